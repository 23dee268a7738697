import { join } from 'node:path'
import type { Driver, Scene } from './driver.ts'
import { putFile } from './files.ts'

const fileIn = ({ home }: Scene): string => join(home, '.qwen', 'settings.json')

/** Qwen Code with an OpenAI-compatible endpoint. */
export const qwenCode: Driver = {
  id: 'qwen-code',
  title: 'Qwen Code',
  package: '@qwen-code/qwen-code',
  command: 'qwen',
  programs: ['@qwen-code/qwen-code/cli-entry.js', '@qwen-code/qwen-code/cli.js'],
  node: 22,
  wire: 'chat',
  connect: 'qwen',
  prepare: (scene) =>
    putFile(fileIn(scene), {
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
    }),
  args: (prompt) => ['-p', prompt, '--yolo', '--auth-type', 'openai'],
  usePrompt: (name, value) => ['-p', `/${name} --path="${value}"`, '--yolo', '--auth-type', 'openai'],
  env: ({ endpoint }) => ({ OPENAI_API_KEY: 'lab', OPENAI_BASE_URL: `${endpoint}/v1`, OPENAI_MODEL: 'qwen3-vl-plus' }),
  cannot: {
    'an elicitation': 'it does not declare the elicitation capability',
    'a resource': 'the model has no tool that lists resources',
  },
}
