import { envVariable, foldersAbove, pathModule, type System } from './system.ts'

/** Other MCP clients whose configuration is read. */
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

export type ClientName = 'unfold' | (typeof clientNames)[number]

/** `user`: a file of the user. `project`: a file of the project, which anyone may have written. */
export type Trust = 'user' | 'project'

/**
 * `servers`: contains only servers. `settings`: servers among other settings. `claude`: settings with additional servers per
 * project.
 */
type Shape = 'servers' | 'settings' | 'claude'

/** A file that may define servers. */
export interface ConfigLocation {
  readonly client: ClientName
  readonly file: string
  readonly trust: Trust
  readonly shape: Shape
  /** Folder that the file applies to. */
  readonly folder: string
}

/** All files that may define servers: those of the user, then those of the project, nearest first. */
export function configLocations(system: System): readonly ConfigLocation[] {
  const locations = [...userLocations(system), ...projectLocations(system)]
  const files = new Set<string>()
  // In the home folder, a project file is a file of the user.
  return locations.filter(({ file }) => !files.has(file) && files.add(file))
}

/** A file passed explicitly is trusted. */
export function explicitLocation(file: string, { cwd, platform }: System): ConfigLocation {
  return { client: 'unfold', file: pathModule(platform).resolve(cwd, file), trust: 'user', shape: 'claude', folder: cwd }
}

function userLocations(system: System): readonly ConfigLocation[] {
  const { platform, home, cwd } = system
  const paths = pathModule(platform)
  const configs = configFolder(system)
  const dotted = dotConfigFolder(system)
  const at = (client: ClientName, shape: Shape, ...parts: readonly string[]): ConfigLocation => ({
    client,
    shape,
    file: paths.join(...parts),
    trust: 'user',
    folder: cwd,
  })
  const moved = (variable: string, ...otherwise: readonly string[]): string =>
    absolute(system, variable) ?? paths.join(home, ...otherwise)
  return [
    at('unfold', 'servers', absolute(system, 'UNFOLD_HOME') ?? paths.join(configs, 'unfold'), 'unfold.json'),
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
    // If a client reads several files, the one it writes itself comes first.
    at('opencode', 'settings', dotted, 'opencode', 'opencode.json'),
    at('opencode', 'settings', dotted, 'opencode', 'opencode.jsonc'),
    at('qwen', 'settings', moved('QWEN_HOME', '.qwen'), 'settings.json'),
    at('zed', 'settings', platform === 'win32' ? paths.join(configs, 'Zed') : paths.join(dotted, 'zed'), 'settings.json'),
    at('cline', 'servers', clineSettings(system)),
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

function clineSettings(system: System): string {
  const { platform, home } = system
  const paths = pathModule(platform)
  const named = absolute(system, 'CLINE_MCP_SETTINGS_PATH')
  if (named !== undefined) return named
  const own = absolute(system, 'CLINE_DIR') ?? paths.join(home, '.cline')
  return paths.join(absolute(system, 'CLINE_DATA_DIR') ?? paths.join(own, 'data'), 'settings', clineFile)
}

const projectFiles: readonly (readonly [ClientName, Shape, ...string[]])[] = [
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

function projectLocations({ platform, cwd, root = cwd }: System): readonly ConfigLocation[] {
  const paths = pathModule(platform)
  const above = foldersAbove(cwd, platform)
  const folders = above.slice(0, Math.max(0, above.indexOf(root)) + 1)
  return folders.flatMap((folder) =>
    projectFiles.map(
      ([client, shape, ...parts]): ConfigLocation => ({
        client,
        shape,
        file: paths.join(folder, ...parts),
        trust: 'project',
        folder,
      }),
    ),
  )
}

function configFolder(system: System): string {
  const { platform, home } = system
  const paths = pathModule(platform)
  if (platform === 'darwin') return paths.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return absolute(system, 'APPDATA') ?? paths.join(home, 'AppData', 'Roaming')
  return absolute(system, 'XDG_CONFIG_HOME') ?? paths.join(home, '.config')
}

/** For programs that use ~/.config on every platform. */
function dotConfigFolder(system: System): string {
  const { platform, home } = system
  return absolute(system, 'XDG_CONFIG_HOME') ?? pathModule(platform).join(home, '.config')
}

// A relative path could make a project file pass for a user file.
function absolute(system: System, variable: string): string | undefined {
  const path = envVariable(system, variable)
  return path !== undefined && pathModule(system.platform).isAbsolute(path) ? path : undefined
}
