import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { repositoryFolder, repositoryUrl } from './pages.ts'

/** The part of VitePress's Markdown environment that tells where a page comes from. */
interface PageEnvironment {
  readonly path: string
  readonly realPath?: string
}

/** Returns the anchor that GitHub gives to a heading, so that links to headings work in both places. */
export function githubAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/**
 * Markdown plugin: relative links, which work on GitHub, lead to the page on the site, or to the repository if the file is not
 * part of the site.
 */
export function repositoryLinks(markdown: MarkdownRenderer, siteAddress: (source: string) => string | undefined): void {
  markdown.core.ruler.push('repository-links', (state) => {
    const { realPath, path } = state.env as PageEnvironment
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (href === null || /^(?:[a-z]+:|[#/])/iu.test(href)) continue
      token.attrSet('href', addressOf(realPath ?? path, href, siteAddress))
    }
  })
}

function addressOf(page: string, href: string, siteAddress: (source: string) => string | undefined): string {
  const [path = '', ...anchor] = href.split(/(?=#)/u)
  const file = resolve(dirname(page), decodeURI(path))
  const source = relative(repositoryFolder, file).replaceAll('\\', '/')
  if (!existsSync(join(repositoryFolder, source))) throw new Error(`${page} links to ${href}, which does not exist`)
  const address = siteAddress(source) ?? `${repositoryUrl}/${statSync(file).isDirectory() ? 'tree' : 'blob'}/main/${source}`
  return address + anchor.join('')
}
