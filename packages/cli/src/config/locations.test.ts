import { describe, expect, test } from 'vitest'
import { configLocations } from './locations.ts'
import type { System } from './system.ts'

const files = (system: System, trust: 'user' | 'project'): readonly string[] =>
  configLocations(system)
    .filter((location) => location.trust === trust)
    .map(({ client, file }) => `${client} ${file}`)

const linux: System = { platform: 'linux', home: '/home/ada', cwd: '/home/ada/code/app', env: {} }

describe('user files', () => {
  test('are in the conventional places on Linux', () => {
    expect(files(linux, 'user')).toEqual([
      'unfold /home/ada/.config/unfold/unfold.json',
      'claude-desktop /home/ada/.config/Claude/claude_desktop_config.json',
      'claude-code /home/ada/.claude.json',
      'cursor /home/ada/.cursor/mcp.json',
      'vscode /home/ada/.config/Code/User/mcp.json',
      'vscode /home/ada/.config/Code - Insiders/User/mcp.json',
      'codex /home/ada/.codex/config.toml',
      'gemini /home/ada/.gemini/settings.json',
      'windsurf /home/ada/.codeium/windsurf/mcp_config.json',
      'kiro /home/ada/.kiro/settings/mcp.json',
      'copilot /home/ada/.copilot/mcp-config.json',
      'opencode /home/ada/.config/opencode/opencode.json',
      'opencode /home/ada/.config/opencode/opencode.jsonc',
      'qwen /home/ada/.qwen/settings.json',
      'zed /home/ada/.config/zed/settings.json',
      'cline /home/ada/.cline/data/settings/cline_mcp_settings.json',
      'cline-vscode /home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      'goose /home/ada/.config/goose/config.yaml',
      'junie /home/ada/.junie/mcp/mcp.json',
      'lmstudio /home/ada/.lmstudio/mcp.json',
      'kilo /home/ada/.config/kilo/kilo.jsonc',
      'kilo /home/ada/.config/kilo/kilo.json',
      'kilo /home/ada/.config/kilo/opencode.jsonc',
      'kilo /home/ada/.config/kilo/opencode.json',
      'crush /home/ada/.config/crush/crush.json',
      'kimi /home/ada/.kimi-code/mcp.json',
      'amp /home/ada/.config/amp/settings.json',
      'amp /home/ada/.config/amp/settings.jsonc',
      'continue /home/ada/.continue/config.yaml',
    ])
  })

  test('are in the conventional places on macOS', () => {
    expect(files({ platform: 'darwin', home: '/Users/ada', cwd: '/Users/ada/app', env: {} }, 'user')).toEqual([
      'unfold /Users/ada/Library/Application Support/unfold/unfold.json',
      'claude-desktop /Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
      'claude-code /Users/ada/.claude.json',
      'cursor /Users/ada/.cursor/mcp.json',
      'vscode /Users/ada/Library/Application Support/Code/User/mcp.json',
      'vscode /Users/ada/Library/Application Support/Code - Insiders/User/mcp.json',
      'codex /Users/ada/.codex/config.toml',
      'gemini /Users/ada/.gemini/settings.json',
      'windsurf /Users/ada/.codeium/windsurf/mcp_config.json',
      'kiro /Users/ada/.kiro/settings/mcp.json',
      'copilot /Users/ada/.copilot/mcp-config.json',
      'opencode /Users/ada/.config/opencode/opencode.json',
      'opencode /Users/ada/.config/opencode/opencode.jsonc',
      'qwen /Users/ada/.qwen/settings.json',
      'zed /Users/ada/.config/zed/settings.json',
      'cline /Users/ada/.cline/data/settings/cline_mcp_settings.json',
      'cline-vscode /Users/ada/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      'goose /Users/ada/.config/goose/config.yaml',
      'junie /Users/ada/.junie/mcp/mcp.json',
      'lmstudio /Users/ada/.lmstudio/mcp.json',
      'kilo /Users/ada/.config/kilo/kilo.jsonc',
      'kilo /Users/ada/.config/kilo/kilo.json',
      'kilo /Users/ada/.config/kilo/opencode.jsonc',
      'kilo /Users/ada/.config/kilo/opencode.json',
      'crush /Users/ada/.config/crush/crush.json',
      'kimi /Users/ada/.kimi-code/mcp.json',
      'amp /Users/ada/.config/amp/settings.json',
      'amp /Users/ada/.config/amp/settings.jsonc',
      'continue /Users/ada/.continue/config.yaml',
    ])
  })

  test('are in the conventional places on Windows', () => {
    const env = { AppData: 'D:\\Roaming' }
    expect(files({ platform: 'win32', home: 'C:\\Users\\ada', cwd: 'C:\\work', env }, 'user')).toEqual([
      'unfold D:\\Roaming\\unfold\\unfold.json',
      'claude-desktop D:\\Roaming\\Claude\\claude_desktop_config.json',
      'claude-code C:\\Users\\ada\\.claude.json',
      'cursor C:\\Users\\ada\\.cursor\\mcp.json',
      'vscode D:\\Roaming\\Code\\User\\mcp.json',
      'vscode D:\\Roaming\\Code - Insiders\\User\\mcp.json',
      'codex C:\\Users\\ada\\.codex\\config.toml',
      'gemini C:\\Users\\ada\\.gemini\\settings.json',
      'windsurf C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json',
      'kiro C:\\Users\\ada\\.kiro\\settings\\mcp.json',
      'copilot C:\\Users\\ada\\.copilot\\mcp-config.json',
      'opencode C:\\Users\\ada\\.config\\opencode\\opencode.json',
      'opencode C:\\Users\\ada\\.config\\opencode\\opencode.jsonc',
      'qwen C:\\Users\\ada\\.qwen\\settings.json',
      'zed D:\\Roaming\\Zed\\settings.json',
      'cline C:\\Users\\ada\\.cline\\data\\settings\\cline_mcp_settings.json',
      'cline-vscode D:\\Roaming\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json',
      'goose D:\\Roaming\\Block\\goose\\config\\config.yaml',
      'junie C:\\Users\\ada\\.junie\\mcp\\mcp.json',
      'lmstudio C:\\Users\\ada\\.lmstudio\\mcp.json',
      'kilo C:\\Users\\ada\\.config\\kilo\\kilo.jsonc',
      'kilo C:\\Users\\ada\\.config\\kilo\\kilo.json',
      'kilo C:\\Users\\ada\\.config\\kilo\\opencode.jsonc',
      'kilo C:\\Users\\ada\\.config\\kilo\\opencode.json',
      'crush C:\\Users\\ada\\.config\\crush\\crush.json',
      'kimi C:\\Users\\ada\\.kimi-code\\mcp.json',
      'amp C:\\Users\\ada\\.config\\amp\\settings.json',
      'amp C:\\Users\\ada\\.config\\amp\\settings.jsonc',
      'continue C:\\Users\\ada\\.continue\\config.yaml',
    ])
  })

  test('follow the environment variables of their programs', () => {
    const env = {
      XDG_CONFIG_HOME: '/x',
      CLAUDE_CONFIG_DIR: '/c',
      CODEX_HOME: '/d',
      COPILOT_HOME: '/p',
      UNFOLD_HOME: '/u',
      QWEN_HOME: '/q',
      KIMI_CODE_HOME: '/k',
      CLINE_DATA_DIR: '/l',
    }
    const found = files({ ...linux, env }, 'user')
    expect(found).toEqual(
      expect.arrayContaining([
        'unfold /u/unfold.json',
        'claude-desktop /x/Claude/claude_desktop_config.json',
        'claude-code /c/.claude.json',
        'codex /d/config.toml',
        'copilot /p/mcp-config.json',
        'qwen /q/settings.json',
        'kimi /k/mcp.json',
        'cline /l/settings/cline_mcp_settings.json',
        'goose /x/goose/config.yaml',
      ]),
    )
  })

  test('ignore relative paths, which would make a project file pass for a user file', () => {
    const env = {
      XDG_CONFIG_HOME: 'x',
      CLAUDE_CONFIG_DIR: '.',
      CODEX_HOME: './d',
      COPILOT_HOME: 'p',
      UNFOLD_HOME: 'u',
      QWEN_HOME: 'q',
      KIMI_CODE_HOME: 'k',
      CLINE_DATA_DIR: 'l',
    }
    expect(files({ ...linux, env }, 'user')).toEqual(files(linux, 'user'))
  })
})

describe('project files', () => {
  test('are searched in the folder', () => {
    expect(files(linux, 'project')).toEqual([
      'unfold /home/ada/code/app/unfold.json',
      'claude-code /home/ada/code/app/.mcp.json',
      'cursor /home/ada/code/app/.cursor/mcp.json',
      'vscode /home/ada/code/app/.vscode/mcp.json',
      'codex /home/ada/code/app/.codex/config.toml',
      'gemini /home/ada/code/app/.gemini/settings.json',
      'kiro /home/ada/code/app/.kiro/settings/mcp.json',
      'opencode /home/ada/code/app/opencode.json',
      'qwen /home/ada/code/app/.qwen/settings.json',
      'zed /home/ada/code/app/.zed/settings.json',
      'junie /home/ada/code/app/.junie/mcp/mcp.json',
      'kimi /home/ada/code/app/.kimi-code/mcp.json',
      'amp /home/ada/code/app/.amp/settings.json',
    ])
  })

  test('are searched up to the project root, nearest first', () => {
    const found = files({ ...linux, root: '/home/ada/code' }, 'project').filter((each) => each.startsWith('claude-code'))
    expect(found).toEqual(['claude-code /home/ada/code/app/.mcp.json', 'claude-code /home/ada/code/.mcp.json'])
  })

  test('are user files in the home folder', () => {
    const found = configLocations({ ...linux, cwd: linux.home }).filter(({ file }) => file === '/home/ada/.cursor/mcp.json')
    expect(found.map(({ trust }) => trust)).toEqual(['user'])
  })
})
