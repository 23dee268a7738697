import { shortened } from './text.ts'

const addressLimit = 8 * 1024
// Data URLs contain their content, which can be megabytes.
const maxDataUrlLength = 100

/** Truncates a URL. */
export function addressOf(url: string): string {
  return shortened(url, url.startsWith('data:') ? maxDataUrlLength : addressLimit)
}
