import { shortened } from './text.ts'

const addressLimit = 8 * 1024
// These hold their content, which says nothing about a place and can be megabytes.
const maxDataUrlLength = 100

/** An address as it is kept. */
export function addressOf(url: string): string {
  return shortened(url, url.startsWith('data:') ? maxDataUrlLength : addressLimit)
}
