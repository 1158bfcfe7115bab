/* SPDX-License-Identifier: MIT */
/* COLUMNS_n(X) expands X(0) to X(n - 1): kernels have no arrays of arguments. */
#ifndef CAROM_COLUMN_ARGUMENTS_H
#define CAROM_COLUMN_ARGUMENTS_H
#define COLUMNS_1(X) X(0)
#define COLUMNS_2(X) COLUMNS_1(X) X(1)
#define COLUMNS_3(X) COLUMNS_2(X) X(2)
#define COLUMNS_4(X) COLUMNS_3(X) X(3)
#define COLUMNS_5(X) COLUMNS_4(X) X(4)
#define COLUMNS_6(X) COLUMNS_5(X) X(5)
#define COLUMNS_7(X) COLUMNS_6(X) X(6)
#define COLUMNS_8(X) COLUMNS_7(X) X(7)
#define COLUMNS_9(X) COLUMNS_8(X) X(8)
#define COLUMNS_10(X) COLUMNS_9(X) X(9)
#define COLUMNS_11(X) COLUMNS_10(X) X(10)
#define COLUMNS_12(X) COLUMNS_11(X) X(11)
#define COLUMNS_13(X) COLUMNS_12(X) X(12)
#define COLUMNS_14(X) COLUMNS_13(X) X(13)
#define COLUMNS_15(X) COLUMNS_14(X) X(14)
#define COLUMNS_16(X) COLUMNS_15(X) X(15)
#define COLUMNS_17(X) COLUMNS_16(X) X(16)
#define COLUMNS_18(X) COLUMNS_17(X) X(17)
#define COLUMNS_19(X) COLUMNS_18(X) X(18)
#define COLUMNS_20(X) COLUMNS_19(X) X(19)
#define COLUMNS_21(X) COLUMNS_20(X) X(20)
#define COLUMNS_22(X) COLUMNS_21(X) X(21)
#define COLUMNS_23(X) COLUMNS_22(X) X(22)
#define COLUMNS_24(X) COLUMNS_23(X) X(23)
#define COLUMNS_ALL COLUMNS_24 /* as many as COLUMNS_MAX */
#endif
