import type { Introduction } from '@unfold-mcp/server'
import { version } from '../base/version.ts'
import { shorten, stripHiddenCharacters } from '../base/visible-text.ts'
import type { SelfDescription } from './groups.ts'

const maxNameLength = 100
const maxTextLength = 2_000
const maxInstructionsLength = 20_000

/**
 * A server as it introduces itself to clients that are connected to it alone: by its own name, version and instructions once they
 * are known. A description in the configuration is in place of its own texts.
 */
export function serverIntroduction(server: string, about: string | undefined, says: SelfDescription): Introduction {
  const { info, instructions } = says
  const name = shorten(info?.name ?? '', maxNameLength) || shorten(server, maxNameLength) || 'server'
  const title = shorten(info?.title ?? '', maxNameLength)
  const description = shorten(about ?? info?.description ?? '', maxTextLength)
  const read = about ?? stripHiddenCharacters(instructions?.slice(0, maxInstructionsLength) ?? '').trim()
  return {
    info: {
      name,
      version: shorten(info?.version ?? '', maxNameLength) || version,
      ...(title !== '' && { title }),
      ...(description !== '' && { description }),
      ...(isWebsite(info?.websiteUrl) && { websiteUrl: info.websiteUrl }),
    },
    ...(read !== '' && { about: read }),
  }
}

const isWebsite = (url: string | undefined): url is string =>
  url !== undefined && url.length <= maxTextLength && URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)
