import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatedFolder, sections } from './navigation.ts'

export const repositoryFolder = fileURLToPath(new URL('../', import.meta.url))

const { GITHUB_SERVER_URL: host = 'https://github.com', GITHUB_REPOSITORY: repository = 'unfold-mcp/unfold' } = process.env

/** Where links to files that are not part of the site lead: the repository whose workflow builds it. */
export const repositoryUrl = `${host}/${repository}`

/** Path on the site of a page, by its path in the repository. */
export function sitePath(source: string): string {
  if (source === 'packages/server/README.md') return 'library.md'
  return source
    .replace(`${generatedFolder}/`, '')
    .replace(/^(?:docs|site)\//u, '')
    .replace(/README\.md$/u, 'index.md')
}

/** Paths in the repository of all pages of the site, by the groups of the sidebar. */
export function sidebarPages(): readonly {
  readonly title: string
  readonly isCollapsed?: boolean
  readonly pages: readonly string[]
}[] {
  const listed = new Set(sections.flatMap(({ pages }) => pages))
  return sections.map((section) => ({
    ...section,
    pages: section.pages.flatMap((page) =>
      page.endsWith('/*') ? pagesIn(page.slice(0, -2)).filter((each) => !listed.has(each)) : [page],
    ),
  }))
}

/** Pages in a folder of the repository and in its subfolders, by path. */
export function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(repositoryFolder, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md'))
    .sort()
}

/** First heading of a page, without Markdown. */
export function titleOf(page: string): string {
  const heading = /^# (.+)$/mu.exec(readFileSync(join(repositoryFolder, page), 'utf8'))?.[1]
  if (heading === undefined) throw new Error(`${page} has no heading of level 1`)
  return heading.replaceAll('`', '')
}
