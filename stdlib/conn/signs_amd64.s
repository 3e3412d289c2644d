#include "textflag.h"

// Thirty-two bytes at OFF, whose answers become bits of R.
#define LANE(OFF, R) \
	VMOVDQU   OFF(SI), Y4 \
	VPCMPEQB  Y4, Y0, Y5  \
	VPCMPEQB  Y4, Y1, Y6  \
	VPOR      Y5, Y6, Y5  \
	VPCMPEQB  Y4, Y2, Y6  \
	VPOR      Y5, Y6, Y5  \
	VPCMPGTB  Y4, Y3, Y6  \
	VPOR      Y5, Y6, Y5  \
	VPMOVMSKB Y5, R

// func signBlocksMachine(to *uint64, text *byte, blocks int, a, b, c byte, below int8)
TEXT ·signBlocksMachine(SB), NOSPLIT, $0-28
	VPBROADCASTB a+24(FP), Y0
	VPBROADCASTB b+25(FP), Y1
	VPBROADCASTB c+26(FP), Y2
	VPBROADCASTB below+27(FP), Y3
	MOVQ         to+0(FP), DI
	MOVQ         text+8(FP), SI
	MOVQ         blocks+16(FP), CX

loop:
	LANE(0, AX)
	LANE(32, BX)
	SHLQ $32, BX
	ORQ  BX, AX
	MOVQ AX, (DI)
	ADDQ $8, DI
	ADDQ $64, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// The lowest bit of AX becomes a number at OFF and is taken off.
#define BIT(OFF) \
	TZCNTQ AX, R8      \
	BLSRQ  AX, AX      \
	ADDL   DX, R8      \
	MOVL   R8, OFF(DI)

// func listBitsMachine(to *int32, words *uint64, n int, at int32) int
// Most words have no more than six bits, and to find out how many costs more than to write six numbers, right or not.
TEXT ·listBitsMachine(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ words+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL at+24(FP), DX
	MOVQ DI, R10

loop:
	MOVQ    (SI), AX
	POPCNTQ AX, BX
	BIT(0)
	BIT(4)
	BIT(8)
	BIT(12)
	BIT(16)
	BIT(20)
	CMPQ    BX, $6
	JHI     more

next:
	LEAQ (DI)(BX*4), DI
	ADDQ $8, SI
	ADDL $64, DX
	DECQ CX
	JNZ  loop
	SUBQ R10, DI
	SHRQ $2, DI
	MOVQ DI, ret+32(FP)
	RET

more:
	LEAQ 24(DI), R9

rest:
	TZCNTQ AX, R8
	ADDL   DX, R8
	MOVL   R8, (R9)
	ADDQ   $4, R9
	BLSRQ  AX, AX
	JNZ    rest
	JMP    next
