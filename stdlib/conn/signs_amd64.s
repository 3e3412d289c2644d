#include "textflag.h"

// Sixteen bytes at OFF, whose answers become bits of R.
#define LANE(OFF, R) \
	MOVOU    OFF(SI), X4 \
	MOVO     X4, X5      \
	PCMPEQB  X0, X5      \
	MOVO     X4, X6      \
	PCMPEQB  X1, X6      \
	POR      X6, X5      \
	MOVO     X4, X7      \
	PCMPEQB  X2, X7      \
	POR      X7, X5      \
	MOVO     X3, X8      \
	PCMPGTB  X4, X8      \
	POR      X8, X5      \
	PMOVMSKB X5, R

// The byte in AX in all bytes of X.
#define SPREAD(X) \
	IMULQ      DX, AX \
	MOVQ       AX, X  \
	PUNPCKLQDQ X, X

// func signBlocks(to *uint64, text *byte, blocks int, a, b, c byte, below int8)
// SSE2 only, which every amd64 has.
TEXT ·signBlocks(SB), NOSPLIT, $0-28
	MOVQ $0x0101010101010101, DX
	MOVBQZX a+24(FP), AX
	SPREAD(X0)
	MOVBQZX b+25(FP), AX
	SPREAD(X1)
	MOVBQZX c+26(FP), AX
	SPREAD(X2)
	MOVBQZX below+27(FP), AX
	SPREAD(X3)
	MOVQ to+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ blocks+16(FP), CX

loop:
	LANE(0, AX)
	LANE(16, BX)
	SHLQ $16, BX
	ORQ  BX, AX
	LANE(32, BX)
	SHLQ $32, BX
	ORQ  BX, AX
	LANE(48, BX)
	SHLQ $48, BX
	ORQ  BX, AX
	MOVQ AX, (DI)
	ADDQ $8, DI
	ADDQ $64, SI
	DECQ CX
	JNZ  loop
	RET
