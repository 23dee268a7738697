/** What stands in place of a secret. */
export const marker = '[redacted]'

/** The same within an address, where brackets may not stand. */
export const addressMarker = '%5Bredacted%5D'

/** Whether there is nothing left to hide. */
export function isRedactedValue(value: string): boolean {
  return value === marker || value === addressMarker
}

/** Whether a part of it was hidden. */
export function hasRedaction(text: string): boolean {
  return text.includes(marker) || text.includes(addressMarker)
}

/** Hears of everything that is hidden, by the rule that did it. */
export type OnRedacted = (rule: string) => void
