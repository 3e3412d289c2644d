#include "textflag.h"

// Thirty-two bytes, of which the last n are numbers of the first n bytes: they shift n bytes to the end of sixteen, behind zeros.
DATA shiftDigits<>+0(SB)/8, $0x8080808080808080
DATA shiftDigits<>+8(SB)/8, $0x8080808080808080
DATA shiftDigits<>+16(SB)/8, $0x0706050403020100
DATA shiftDigits<>+24(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL shiftDigits<>(SB), RODATA|NOPTR, $32

DATA zeros<>+0(SB)/8, $0x3030303030303030
DATA zeros<>+8(SB)/8, $0x3030303030303030
GLOBL zeros<>(SB), RODATA|NOPTR, $16

DATA nines<>+0(SB)/8, $0x0909090909090909
DATA nines<>+8(SB)/8, $0x0909090909090909
GLOBL nines<>(SB), RODATA|NOPTR, $16

DATA byTen<>+0(SB)/8, $0x010a010a010a010a
DATA byTen<>+8(SB)/8, $0x010a010a010a010a
GLOBL byTen<>(SB), RODATA|NOPTR, $16

DATA byHundred<>+0(SB)/8, $0x0001006400010064
DATA byHundred<>+8(SB)/8, $0x0001006400010064
GLOBL byHundred<>(SB), RODATA|NOPTR, $16

DATA byMyriad<>+0(SB)/8, $0x0001271000012710
DATA byMyriad<>+8(SB)/8, $0x0001271000012710
GLOBL byMyriad<>(SB), RODATA|NOPTR, $16

// func digitsMachine(to *int64, rows int, text *byte, from, upto *int32, each, start, end int, unit int64, most uint64, strict bool) int
// Digits are the last of sixteen bytes. Neighbours are added up to numbers of two, four and eight digits.
TEXT ·digitsMachine(SB), NOSPLIT, $0-96
	MOVQ    to+0(FP), DI
	MOVQ    rows+8(FP), CX
	MOVQ    text+16(FP), SI
	MOVQ    from+24(FP), R8
	MOVQ    upto+32(FP), R9
	MOVQ    each+40(FP), R10
	SHLQ    $2, R10
	MOVQ    start+48(FP), R11
	ADDQ    SI, R11
	MOVQ    end+56(FP), R12
	ADDQ    SI, R12
	MOVQ    unit+64(FP), R13
	LEAQ    shiftDigits<>(SB), SI
	VMOVDQU zeros<>(SB), X8
	VMOVDQU nines<>(SB), X9
	VMOVDQU byTen<>(SB), X10
	VMOVDQU byHundred<>(SB), X11
	VMOVDQU byMyriad<>(SB), X12
	XORL    BX, BX

loop:
	MOVLQSX (R8), DX
	ADDQ    R11, DX       // the value
	MOVLQSX (R9), AX
	ADDQ    R12, AX       // its end
	XORL    R14, R14
	CMPB    (DX), $'-'
	SETEQ   R14
	ADDQ    R14, DX
	SUBQ    DX, AX        // how many digits
	LEAQ    -1(AX), R15
	CMPQ    R15, $15
	JHI     done
	CMPB    strict+80(FP), $0
	JEQ     any
	CMPB    (DX), $'0'
	JNE     any
	CMPQ    AX, $1
	JNE     done

any:
	VMOVDQU    (DX), X0
	VPSUBB     X8, X0, X0
	VMOVDQU    (SI)(AX*1), X1
	VPSHUFB    X1, X0, X0
	VPSUBUSB   X9, X0, X1
	VPTEST     X1, X1
	JNZ        done
	VPMADDUBSW X10, X0, X0
	VPMADDWD   X11, X0, X0
	VPACKUSDW  X0, X0, X0
	VPMADDWD   X12, X0, X0
	VMOVQ      X0, R15
	MOVL       R15, DX
	SHRQ       $32, R15
	IMUL3Q     $100000000, DX, DX
	ADDQ       DX, R15
	CMPQ       R15, most+72(FP)
	JHI        done
	IMULQ      R13, R15
	NEGQ       R14
	XORQ       R14, R15
	SUBQ       R14, R15
	MOVQ       R15, (DI)(BX*8)
	ADDQ       R10, R8
	ADDQ       R10, R9
	INCQ       BX
	CMPQ       BX, CX
	JLT        loop

done:
	MOVQ BX, ret+88(FP)
	RET

// func alikeMachine(text *byte, places *int32, each, rows, at int, want, mask *[slack]byte) bool
TEXT ·alikeMachine(SB), NOSPLIT, $0-57
	MOVQ    text+0(FP), SI
	MOVQ    places+8(FP), R8
	MOVQ    each+16(FP), R10
	SHLQ    $2, R10
	MOVQ    rows+24(FP), CX
	SUBQ    at+32(FP), SI
	MOVQ    want+40(FP), AX
	VMOVDQU (AX), Y0
	MOVQ    mask+48(FP), AX
	VMOVDQU (AX), Y1
	VPXOR   Y2, Y2, Y2

next:
	MOVLQSX (R8), DX
	VPXOR   (SI)(DX*1), Y0, Y3
	VPOR    Y3, Y2, Y2
	ADDQ    R10, R8
	DECQ    CX
	JNZ     next
	VPTEST  Y1, Y2
	SETEQ   ret+56(FP)
	VZEROUPPER
	RET

// func haveMachine(text *byte, places *int32, want *byte, n int) bool
TEXT ·haveMachine(SB), NOSPLIT, $0-33
	MOVQ text+0(FP), SI
	MOVQ places+8(FP), R8
	MOVQ want+16(FP), R9
	MOVQ n+24(FP), CX
	XORL AX, AX
	XORL BX, BX

each:
	MOVLQSX (R8)(BX*4), DX
	MOVBLZX (SI)(DX*1), DX
	XORB    (R9)(BX*1), DX
	ORL     DX, AX
	INCQ    BX
	CMPQ    BX, CX
	JLT     each
	TESTL   AX, AX
	SETEQ   ret+32(FP)
	RET
