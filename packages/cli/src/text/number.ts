/** A number as people write it. */
export const formatNumber = (count: number): string => count.toLocaleString('en')

/** How many there are of something. */
export const plural = (count: number, noun: string): string => `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
