/** Replaces a secret. */
export const marker = '[redacted]'

/** Replaces a secret in a URL, where brackets are not allowed. */
export const addressMarker = '%5Bredacted%5D'

export function isRedactedValue(value: string): boolean {
  return value === marker || value === addressMarker
}

export function hasRedaction(text: string): boolean {
  return text.includes(marker) || text.includes(addressMarker)
}

/** Called with the rule for every redaction. */
export type OnRedacted = (rule: string) => void
