/** A number as people write it. */
export const amount = (count: number): string => count.toLocaleString('en')

/** How many there are of something. */
export const counted = (count: number, noun: string): string => `${amount(count)} ${noun}${count === 1 ? '' : 's'}`
