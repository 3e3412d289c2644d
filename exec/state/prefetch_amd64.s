#include "textflag.h"

// func prefetch(base unsafe.Pointer, word uint64, size int)
TEXT ·prefetch(SB), NOSPLIT, $0-24
	MOVQ base+0(FP), AX
	MOVQ word+8(FP), BX
	MOVQ size+16(FP), SI
next:
	TESTQ BX, BX
	JZ    done
	BSFQ  BX, CX
	IMULQ SI, CX
	PREFETCHT0 (AX)(CX*1)
	LEAQ  -1(BX), DX
	ANDQ  DX, BX
	JMP   next
done:
	RET
