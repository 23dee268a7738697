import { describe, expect, test } from 'vitest'
import { placesOf } from './places.ts'
import type { Surroundings } from './surroundings.ts'

const files = (surroundings: Surroundings, trust: 'user' | 'project'): readonly string[] =>
  placesOf(surroundings)
    .filter((place) => place.trust === trust)
    .map(({ client, file }) => `${client} ${file}`)

const linux: Surroundings = { platform: 'linux', home: '/home/ada', cwd: '/home/ada/code/app', env: {} }

describe("a user's own files", () => {
  test('are where each program keeps them on Linux', () => {
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
    ])
  })

  test('are where each program keeps them on macOS', () => {
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
    ])
  })

  test('are where each program keeps them on Windows', () => {
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
    ])
  })

  test('move with the variables that their programs know', () => {
    const env = { XDG_CONFIG_HOME: '/x', CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/d', COPILOT_HOME: '/p', UNFOLD_HOME: '/u' }
    const found = files({ ...linux, env }, 'user')
    expect(found).toEqual(
      expect.arrayContaining([
        'unfold /u/unfold.json',
        'claude-desktop /x/Claude/claude_desktop_config.json',
        'claude-code /c/.claude.json',
        'codex /d/config.toml',
        'copilot /p/mcp-config.json',
      ]),
    )
  })

  test('do not move to a relative path, which would make a file of the project pass for one of theirs', () => {
    const env = { XDG_CONFIG_HOME: 'x', CLAUDE_CONFIG_DIR: '.', CODEX_HOME: './d', COPILOT_HOME: 'p', UNFOLD_HOME: 'u' }
    expect(files({ ...linux, env }, 'user')).toEqual(files(linux, 'user'))
  })
})

describe("a project's files", () => {
  test('are looked for in the folder', () => {
    expect(files(linux, 'project')).toEqual([
      'unfold /home/ada/code/app/unfold.json',
      'claude-code /home/ada/code/app/.mcp.json',
      'cursor /home/ada/code/app/.cursor/mcp.json',
      'vscode /home/ada/code/app/.vscode/mcp.json',
      'codex /home/ada/code/app/.codex/config.toml',
      'gemini /home/ada/code/app/.gemini/settings.json',
      'kiro /home/ada/code/app/.kiro/settings/mcp.json',
    ])
  })

  test('are looked for up to the top of the project, nearest first', () => {
    const found = files({ ...linux, root: '/home/ada/code' }, 'project').filter((each) => each.startsWith('claude-code'))
    expect(found).toEqual(['claude-code /home/ada/code/app/.mcp.json', 'claude-code /home/ada/code/.mcp.json'])
  })

  test('are the user’s own where the folder is the home folder', () => {
    const found = placesOf({ ...linux, cwd: linux.home }).filter(({ file }) => file === '/home/ada/.cursor/mcp.json')
    expect(found.map(({ trust }) => trust)).toEqual(['user'])
  })
})
