/** 12345 as `12,345`. */
export const formatNumber = (count: number): string => count.toLocaleString('en')

/** `1 tool`, `2 tools`. */
export const plural = (count: number, noun: string): string => `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
