import { join } from 'node:path'
import { folderOf } from '../installed.ts'
import type { Driver, Scene } from './driver.ts'
import { putFile } from './files.ts'

const platform = `${process.platform}-${process.arch}`
const name = '@github/copilot'

const offline = ({ home }: Scene): Readonly<Record<string, string>> => ({
  COPILOT_OFFLINE: 'true',
  COPILOT_AUTO_UPDATE: 'false',
  COPILOT_PROVIDER_API_KEY: 'lab',
  // It unpacks 235 MB on its first start, and every run has a new home folder.
  COPILOT_PKG_CACHE_HOME: join(folderOf(name), 'unpacked'),
  // Long results go to the temporary directory.
  TMPDIR: join(home, 'tmp'),
})

/** Copilot CLI with a custom provider, for which it lists every tool. */
export const copilotCli: Driver = {
  id: 'copilot-cli',
  title: 'Copilot CLI',
  package: name,
  command: 'copilot',
  programs: [`${name}-${platform}/copilot`],
  wire: 'chat',
  connect: 'copilot',
  prepare: ({ home }) => putFile(join(home, 'tmp', '.keep'), ''),
  args: (prompt) => ['-p', prompt, '--allow-all-tools', '--no-color'],
  env: (scene) => ({ ...offline(scene), COPILOT_PROVIDER_BASE_URL: `${scene.endpoint}/v1`, COPILOT_MODEL: 'gpt-5' }),
  cannot: {
    'a prompt': 'it does not offer the prompts of servers without a terminal',
    'an image': 'it drops images in results of MCP tools where the model is not from GitHub',
    'a resource': 'the model has no tool that lists resources',
  },
}

/** Copilot CLI with Claude, for which it defers MCP tools above 30 tools in total, including its own. */
export const copilotCliClaude: Driver = {
  ...copilotCli,
  id: 'copilot-cli-claude',
  title: 'Copilot CLI (Claude)',
  wire: 'anthropic',
  env: (scene) => ({
    ...offline(scene),
    COPILOT_PROVIDER_TYPE: 'anthropic',
    COPILOT_PROVIDER_BASE_URL: scene.endpoint,
    COPILOT_MODEL: 'claude-sonnet-4.5',
  }),
}
