/** 12345 as `12,345`. `toLocaleString` would load the locales, which takes about 10 ms. */
export const formatNumber = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/gu, ',')

/** `1 tool`, `2 tools`. */
export const plural = (count: number, noun: string): string => `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
