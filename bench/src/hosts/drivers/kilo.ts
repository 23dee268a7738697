import { join } from 'node:path'
import type { Driver, Scene } from './driver.ts'
import { putFile } from './files.ts'

const platform = `${process.platform}-${process.arch}`
const fileIn = ({ home }: Scene): string => join(home, '.config', 'kilo', 'kilo.json')

/** Kilo Code with an OpenAI-compatible provider. */
export const kilo: Driver = {
  id: 'kilo',
  title: 'Kilo Code',
  package: '@kilocode/cli',
  command: 'kilo',
  programs: [`@kilocode/cli-${platform}/bin/kilo`, `@kilocode/cli-${platform}-baseline/bin/kilo`],
  wire: 'chat',
  connect: 'kilo',
  prepare: (scene) =>
    putFile(fileIn(scene), {
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
  args: (prompt) => ['run', prompt, '--auto', '--title', 'lab'],
  usePrompt: (name, value) => ['run', '--command', `unfold:${name}`, value, '--auto', '--title', 'lab'],
  env: () => ({
    KILO_DISABLE_MODELS_FETCH: '1',
    KILO_DISABLE_AUTOUPDATE: '1',
    KILO_DISABLE_LSP_DOWNLOAD: '1',
    KILO_TELEMETRY_LEVEL: 'off',
  }),
  cannot: {
    'an elicitation': 'it does not declare the elicitation capability',
  },
}
