/** Formats a count: `1 tool`, `2 tools`. */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string => `${count} ${count === 1 ? noun : nouns}`
