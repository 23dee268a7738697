import { foldersAbove, pathsOf, type Surroundings, variableOf } from './surroundings.ts'

/** The other programs whose configurations are read. */
export const clientNames = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'codex',
  'gemini',
  'windsurf',
  'kiro',
  'copilot',
  'opencode',
  'qwen',
  'zed',
  'cline',
  'cline-vscode',
  'goose',
  'junie',
  'lmstudio',
  'kilo',
  'crush',
  'kimi',
  'amp',
  'continue',
] as const

/** The programs whose configurations are read, this one included. */
export type ClientName = 'unfold' | (typeof clientNames)[number]

/** `user`: the user's own file. `project`: a file that came with the folder, which anyone may have written. */
export type Trust = 'user' | 'project'

/**
 * What a file holds. `servers`: servers and nothing else. `settings`: servers among other things. `claude`: settings with more
 * servers for each project.
 */
type Shape = 'servers' | 'settings' | 'claude'

/** A file that may hold servers. */
export interface Place {
  readonly client: ClientName
  readonly file: string
  readonly trust: Trust
  readonly shape: Shape
  /** The folder that the file is about. */
  readonly folder: string
}

/** Every file that may hold servers for someone at this place: the user's own, then the project's, nearest first. */
export function placesOf(surroundings: Surroundings): readonly Place[] {
  const places = [...userPlaces(surroundings), ...projectPlaces(surroundings)]
  const files = new Set<string>()
  // In the home folder, what looks like a project's file is the user's own.
  return places.filter(({ file }) => !files.has(file) && files.add(file))
}

/** The place of a file that the user named, which is thereby trusted. */
export function namedPlace(file: string, { cwd, platform }: Surroundings): Place {
  return { client: 'unfold', file: pathsOf(platform).resolve(cwd, file), trust: 'user', shape: 'claude', folder: cwd }
}

function userPlaces(surroundings: Surroundings): readonly Place[] {
  const { platform, home, cwd } = surroundings
  const paths = pathsOf(platform)
  const configs = configFolder(surroundings)
  const dotted = dotConfigFolder(surroundings)
  const at = (client: ClientName, shape: Shape, ...parts: readonly string[]): Place => ({
    client,
    shape,
    file: paths.join(...parts),
    trust: 'user',
    folder: cwd,
  })
  const moved = (variable: string, ...otherwise: readonly string[]): string =>
    absolute(surroundings, variable) ?? paths.join(home, ...otherwise)
  return [
    at('unfold', 'servers', absolute(surroundings, 'UNFOLD_HOME') ?? paths.join(configs, 'unfold'), 'unfold.json'),
    at('claude-desktop', 'settings', configs, 'Claude', 'claude_desktop_config.json'),
    at('claude-code', 'claude', moved('CLAUDE_CONFIG_DIR'), '.claude.json'),
    at('cursor', 'servers', home, '.cursor', 'mcp.json'),
    at('vscode', 'servers', configs, 'Code', 'User', 'mcp.json'),
    at('vscode', 'servers', configs, 'Code - Insiders', 'User', 'mcp.json'),
    at('codex', 'settings', moved('CODEX_HOME', '.codex'), 'config.toml'),
    at('gemini', 'settings', home, '.gemini', 'settings.json'),
    at('windsurf', 'servers', home, '.codeium', 'windsurf', 'mcp_config.json'),
    at('kiro', 'servers', home, '.kiro', 'settings', 'mcp.json'),
    at('copilot', 'servers', moved('COPILOT_HOME', '.copilot'), 'mcp-config.json'),
    // Of several files that a program reads, the one that it writes itself comes first.
    at('opencode', 'settings', dotted, 'opencode', 'opencode.json'),
    at('opencode', 'settings', dotted, 'opencode', 'opencode.jsonc'),
    at('qwen', 'settings', moved('QWEN_HOME', '.qwen'), 'settings.json'),
    at('zed', 'settings', platform === 'win32' ? paths.join(configs, 'Zed') : paths.join(dotted, 'zed'), 'settings.json'),
    at('cline', 'servers', clineSettings(surroundings)),
    at('cline-vscode', 'servers', configs, 'Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev', 'settings', clineFile),
    at(
      'goose',
      'settings',
      platform === 'win32' ? paths.join(configs, 'Block', 'goose', 'config') : paths.join(dotted, 'goose'),
      'config.yaml',
    ),
    at('junie', 'servers', home, '.junie', 'mcp', 'mcp.json'),
    at('lmstudio', 'servers', home, '.lmstudio', 'mcp.json'),
    ...['kilo.jsonc', 'kilo.json', 'opencode.jsonc', 'opencode.json'].map((name) => at('kilo', 'settings', dotted, 'kilo', name)),
    at('crush', 'settings', dotted, 'crush', 'crush.json'),
    at('kimi', 'servers', moved('KIMI_CODE_HOME', '.kimi-code'), 'mcp.json'),
    at('amp', 'settings', dotted, 'amp', 'settings.json'),
    at('amp', 'settings', dotted, 'amp', 'settings.jsonc'),
    at('continue', 'settings', moved('CONTINUE_GLOBAL_DIR', '.continue'), 'config.yaml'),
  ]
}

const clineFile = 'cline_mcp_settings.json'

function clineSettings(surroundings: Surroundings): string {
  const { platform, home } = surroundings
  const paths = pathsOf(platform)
  const named = absolute(surroundings, 'CLINE_MCP_SETTINGS_PATH')
  if (named !== undefined) return named
  const own = absolute(surroundings, 'CLINE_DIR') ?? paths.join(home, '.cline')
  return paths.join(absolute(surroundings, 'CLINE_DATA_DIR') ?? paths.join(own, 'data'), 'settings', clineFile)
}

const inProjects: readonly (readonly [ClientName, Shape, ...string[]])[] = [
  ['unfold', 'servers', 'unfold.json'],
  ['claude-code', 'servers', '.mcp.json'],
  ['cursor', 'servers', '.cursor', 'mcp.json'],
  ['vscode', 'servers', '.vscode', 'mcp.json'],
  ['codex', 'settings', '.codex', 'config.toml'],
  ['gemini', 'settings', '.gemini', 'settings.json'],
  ['kiro', 'servers', '.kiro', 'settings', 'mcp.json'],
  ['opencode', 'settings', 'opencode.json'],
  ['qwen', 'settings', '.qwen', 'settings.json'],
  ['zed', 'settings', '.zed', 'settings.json'],
  ['junie', 'servers', '.junie', 'mcp', 'mcp.json'],
  ['kimi', 'servers', '.kimi-code', 'mcp.json'],
  ['amp', 'settings', '.amp', 'settings.json'],
]

function projectPlaces({ platform, cwd, root = cwd }: Surroundings): readonly Place[] {
  const paths = pathsOf(platform)
  const above = foldersAbove(cwd, platform)
  const folders = above.slice(0, Math.max(0, above.indexOf(root)) + 1)
  return folders.flatMap((folder) =>
    inProjects.map(
      ([client, shape, ...parts]): Place => ({ client, shape, file: paths.join(folder, ...parts), trust: 'project', folder }),
    ),
  )
}

/** Where programs keep their settings on this platform. */
function configFolder(surroundings: Surroundings): string {
  const { platform, home } = surroundings
  const paths = pathsOf(platform)
  if (platform === 'darwin') return paths.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return absolute(surroundings, 'APPDATA') ?? paths.join(home, 'AppData', 'Roaming')
  return absolute(surroundings, 'XDG_CONFIG_HOME') ?? paths.join(home, '.config')
}

/** Where programs keep their settings that do so in the same way on every platform. */
function dotConfigFolder(surroundings: Surroundings): string {
  const { platform, home } = surroundings
  return absolute(surroundings, 'XDG_CONFIG_HOME') ?? pathsOf(platform).join(home, '.config')
}

// A relative path would make a folder's own file pass for the user's.
function absolute(surroundings: Surroundings, variable: string): string | undefined {
  const path = variableOf(surroundings, variable)
  return path !== undefined && pathsOf(surroundings.platform).isAbsolute(path) ? path : undefined
}
