import { join } from 'node:path'
import type { Driver, Scene } from './driver.ts'
import { putFile } from './files.ts'

const platform = `${process.platform}-${process.arch}`
const fileIn = ({ home }: Scene): string => join(home, '.config', 'opencode', 'opencode.json')

/** opencode with an OpenAI-compatible provider. */
export const opencode: Driver = {
  id: 'opencode',
  title: 'opencode',
  package: 'opencode-ai',
  command: 'opencode',
  programs: [`opencode-${platform}/bin/opencode`, `opencode-${platform}-baseline/bin/opencode`, 'opencode-ai/bin/opencode.exe'],
  wire: 'chat',
  connect: 'opencode',
  prepare: (scene) =>
    putFile(fileIn(scene), {
      $schema: 'https://opencode.ai/config.json',
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      model: 'lab/lab',
      small_model: 'lab/lab',
      provider: {
        lab: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${scene.endpoint}/v1`, apiKey: 'lab' },
          models: {
            lab: {
              name: 'lab',
              tool_call: true,
              attachment: true,
              modalities: { input: ['text', 'image'], output: ['text'] },
              limit: { context: 200_000, output: 8_000 },
            },
          },
        },
      },
    }),
  args: (prompt) => ['run', prompt],
  usePrompt: (name, value) => ['run', '--command', `unfold:${name}`, value],
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' }),
  cannot: { 'an elicitation': 'it does not declare the elicitation capability' },
}
