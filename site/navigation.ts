/** One group of the sidebar: pages by their path in the repository, in reading order. */
interface Section {
  readonly title: string
  readonly pages: readonly string[]
  /** Closed until one of its pages is shown. */
  readonly isCollapsed?: boolean
}

/** Folder of the generated pages, relative to the repository. Git ignores it. */
export const generatedFolder = 'site/generated'

const guides = (...names: readonly string[]): readonly string[] => names.map((name) => `docs/guides/${name}.md`)

/**
 * The sidebar. A page that is missing here fails the build, so that every page can be found. A path that ends in `/*` stands for
 * the pages of a folder that are not listed before it.
 */
export const sections: readonly Section[] = [
  { title: 'Overview', pages: ['docs/guides/README.md', 'docs/benchmarks.md'] },
  {
    title: 'Gateway',
    pages: guides(
      'gateway',
      'dashboard',
      'connecting-clients',
      'hosts',
      'automatic-updates',
      'trust',
      'policy',
      'audit',
      'scaling',
      'sandbox',
      'secrets',
      'deploying',
      'command-line',
    ),
  },
  {
    title: 'Server library',
    pages: [
      'packages/server/README.md',
      ...guides('getting-started', 'groups', 'quotas-and-hooks', 'gate', 'results-and-errors', 'serving', 'testing'),
    ],
  },
  {
    title: 'Exposure and search',
    pages: guides('choosing-an-exposure', 'lazy-mode', 'search', 'better-search', 'code', 'hidden-calls', 'views'),
  },
  {
    title: 'Tools that change',
    pages: guides(
      'conditional-tools',
      'state-aware-tools',
      'dynamic-tools',
      'versions-and-aliases',
      'remembering',
      'permissions',
    ),
    isCollapsed: true,
  },
  {
    title: 'Integration',
    pages: guides('decorators', 'hybrid', 'adopting', 'prompts-and-resources', 'plugins', 'two-eras'),
    isCollapsed: true,
  },
  { title: 'Client and browser server', pages: guides('client', 'identity', 'browser') },
  {
    title: 'Reference',
    pages: [
      `${generatedFolder}/configuration.md`,
      `${generatedFolder}/commands.md`,
      'docs/reference.md',
      'docs/protocol.md',
      'docs/architecture.md',
    ],
  },
  { title: 'API', pages: [`${generatedFolder}/api/index.md`, `${generatedFolder}/api/*`], isCollapsed: true },
  { title: 'Errors', pages: ['docs/errors/README.md', 'docs/errors/*'], isCollapsed: true },
]
