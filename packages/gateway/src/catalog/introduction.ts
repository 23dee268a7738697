import type { Introduction } from '@unfold-mcp/server'
import { version } from '../base/version.ts'
import { brief, withoutHidden } from '../base/visible-text.ts'
import type { SelfDescription } from './groups.ts'

const longestName = 100
const longestText = 2_000
const longestInstructions = 20_000

/**
 * A server as it introduces itself to clients that are connected to it alone: by its own name, version and instructions once they
 * are known. A description in the configuration is in place of its own texts.
 */
export function introductionOf(server: string, about: string | undefined, says: SelfDescription): Introduction {
  const { info, instructions } = says
  const name = brief(info?.name ?? '', longestName) || brief(server, longestName) || 'server'
  const title = brief(info?.title ?? '', longestName)
  const description = brief(about ?? info?.description ?? '', longestText)
  const read = about ?? withoutHidden(instructions?.slice(0, longestInstructions) ?? '').trim()
  return {
    info: {
      name,
      version: brief(info?.version ?? '', longestName) || version,
      ...(title !== '' && { title }),
      ...(description !== '' && { description }),
      ...(isWebsite(info?.websiteUrl) && { websiteUrl: info.websiteUrl }),
    },
    ...(read !== '' && { about: read }),
  }
}

const isWebsite = (url: string | undefined): url is string =>
  url !== undefined && url.length <= longestText && URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)
