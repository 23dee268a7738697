import type { Introduction } from '@unfold-mcp/server'
import { version } from '../base/version.ts'
import { shorten, stripHiddenCharacters } from '../base/visible-text.ts'
import type { SelfDescription } from './groups.ts'

const maxNameLength = 100
const maxTextLength = 2_000
const maxInstructionsLength = 20_000

/**
 * Server info for clients that are connected to this server alone: its own name, version and instructions once they are known. A
 * configured description replaces its own texts.
 */
export function serverIntroduction(
  server: string,
  configured: string | undefined,
  { info, instructions }: SelfDescription,
): Introduction {
  const name = shorten(info?.name ?? '', maxNameLength) || shorten(server, maxNameLength) || 'server'
  const title = shorten(info?.title ?? '', maxNameLength)
  const description = shorten(configured ?? info?.description ?? '', maxTextLength)
  const text = configured ?? stripHiddenCharacters(instructions?.slice(0, maxInstructionsLength) ?? '').trim()
  return {
    info: {
      name,
      version: shorten(info?.version ?? '', maxNameLength) || version,
      ...(title !== '' && { title }),
      ...(description !== '' && { description }),
      ...(isWebsite(info?.websiteUrl) && { websiteUrl: info.websiteUrl }),
    },
    ...(text !== '' && { description: text }),
  }
}

const isWebsite = (url: string | undefined): url is string =>
  url !== undefined && url.length <= maxTextLength && URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)
