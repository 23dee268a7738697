import { join } from 'node:path'
import type { Driver } from './driver.ts'
import { putFile } from './files.ts'

const platform = `${process.platform}-${process.arch}`

/** Claude Code with default settings: it defers all MCP tools behind its own search. */
export const claudeCode: Driver = {
  id: 'claude-code',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  command: 'claude',
  programs: [`@anthropic-ai/claude-code-${platform}/claude`, '@anthropic-ai/claude-code/bin/claude.exe'],
  wire: 'anthropic',
  connect: 'claude',
  // Otherwise the first start asks for a theme.
  prepare: ({ home }) => putFile(join(home, '.claude.json'), { hasCompletedOnboarding: true }),
  args: (prompt) => ['-p', prompt, '--dangerously-skip-permissions'],
  usePrompt: (name, value) => ['-p', `/mcp__unfold__${name} ${value}`, '--dangerously-skip-permissions'],
  env: ({ endpoint }) => ({
    ANTHROPIC_BASE_URL: endpoint,
    ANTHROPIC_API_KEY: 'lab',
    // Outside a sandbox it does not allow root to skip permissions.
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // By default its first request may precede the server connection, which costs a turn on a busy machine.
    MCP_CONNECTION_NONBLOCKING: 'false',
    CLAUDE_CODE_MCP_STARTUP_WAIT_MS: '60000',
    MCP_CONNECT_TIMEOUT_MS: '60000',
    MCP_TIMEOUT: '60000',
    DISABLE_TELEMETRY: '1',
  }),
}

/** The last minor version that does not defer tools with a custom model endpoint. */
export const claudeCode197: Driver = {
  ...claudeCode,
  id: 'claude-code-2.1.197',
  package: 'claude-code-2.1.197',
  programs: [`@anthropic-ai/claude-code-${platform}/claude`, 'claude-code-2.1.197/bin/claude.exe'],
}
