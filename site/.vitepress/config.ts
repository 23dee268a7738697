import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { accessibleTables, accessibleTheme } from '../accessibility.ts'
import { writeReference } from '../generate/index.ts'
import { home } from '../home.ts'
import { githubAnchor, repositoryLinks } from '../links.ts'
import { generatedFolder } from '../navigation.ts'
import { pagesIn, repositoryFolder, repositoryUrl, sidebarPages, sitePath, titleOf } from '../pages.ts'

await writeReference()

const sidebar = sidebarPages()
const homePage = 'site/index.md'
const pages = new Set([homePage, ...sidebar.flatMap((section) => section.pages)])
const unlisted = pagesIn('docs').filter((page) => !pages.has(page))
if (unlisted.length > 0) throw new Error(`Not in site/navigation.ts: ${unlisted.join(', ')}`)

const address = (page: string): string => `/${sitePath(page).replace(/(?:^|(?<=\/))index\.md$/u, '')}`
const foldersOf = (folder: string): string[] =>
  readdirSync(join(repositoryFolder, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

export default defineConfig({
  title: 'Unfold',
  description: 'One endpoint for all your MCP servers: clients see the tools they need now',
  lang: 'en',
  srcDir: '..',
  srcExclude: [
    '*.md',
    ...foldersOf('.')
      .filter((name) => !['docs', 'packages', 'site'].includes(name))
      .map((name) => `${name}/**`),
    ...foldersOf('packages')
      .filter((name) => name !== 'server')
      .map((name) => `packages/${name}/**`),
  ],
  rewrites: sitePath,
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  transformHead: ({ siteData }) => [['link', { rel: 'icon', href: `${siteData.base}logo.svg`, type: 'image/svg+xml' }]],
  markdown: {
    anchor: { slugify: githubAnchor },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown) => {
      repositoryLinks(markdown, (source) => (pages.has(source) ? address(source) : undefined))
      accessibleTables(markdown)
    },
  },
  transformPageData: ({ filePath, frontmatter }) => {
    if (filePath === homePage) Object.assign(frontmatter, home)
    if (filePath.startsWith(generatedFolder)) frontmatter.editLink = false
  },
  vite: {
    publicDir: join(repositoryFolder, 'site/public'),
    plugins: [accessibleTheme()],
    // The search index is one chunk, which browsers load when the search is opened.
    build: { chunkSizeWarningLimit: 4_000 },
  },
  themeConfig: {
    logo: '/logo.svg',
    nav: [
      { text: 'Gateway', link: address('docs/guides/gateway.md') },
      { text: 'Library', link: address('packages/server/README.md') },
      { text: 'Command line', link: address('docs/guides/command-line.md') },
      { text: 'Reference', link: '/configuration' },
      { text: 'GitHub', link: repositoryUrl },
    ],
    sidebar: sidebar.map(({ title, isCollapsed = false, pages: members }) => ({
      text: title,
      collapsed: isCollapsed,
      items: members.map((page) => ({ text: titleOf(page), link: address(page) })),
    })),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    editLink: { pattern: `${repositoryUrl}/edit/main/:path`, text: 'Edit this page on GitHub' },
    notFound: {
      title: 'Page not found',
      quote: 'The address may be misspelled, or the page has moved.',
      linkText: 'Home',
      linkLabel: 'Home',
    },
    footer: { message: 'MIT licence' },
  },
})
