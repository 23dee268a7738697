/** Removes floating-point noise. */
export const rounded = (value: number): number => Number(value.toPrecision(12))
