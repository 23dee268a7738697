/** Without the last digits, which floating point makes up. */
export const rounded = (value: number): number => Number(value.toPrecision(12))
