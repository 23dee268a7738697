import { join } from 'node:path'
import type { Driver, Scene } from './driver.ts'
import { putFile } from './files.ts'

const platform = `${process.platform}-${process.arch}`
const settings = ({ home }: Scene): string => join(home, '.cline', 'data', 'settings')

/** Cline CLI with an OpenAI-compatible provider. */
export const cline: Driver = {
  id: 'cline',
  title: 'Cline',
  package: 'cline',
  command: 'cline',
  programs: [`@cline/cli-${platform}/bin/cline`],
  wire: 'chat',
  connect: 'cline',
  prepare: (scene) => {
    const provider = 'openai-compatible'
    return putFile(join(settings(scene), 'providers.json'), {
      version: 1,
      lastUsedProvider: provider,
      modes: {},
      providers: {
        [provider]: {
          settings: { provider, apiKey: 'lab', model: 'lab', baseUrl: `${scene.endpoint}/v1` },
          updatedAt: '2026-01-01T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    })
  },
  args: (prompt) => ['--auto-approve', 'true', prompt],
  // Otherwise it starts a daemon that outlives the run.
  env: () => ({ CLINE_SESSION_BACKEND_MODE: 'local' }),
  showsMeta: true,
  cannot: {
    'a prompt': 'it does not offer the prompts of servers without a terminal',
    'an image': 'it passes the base64 of an image as text',
    'a gateway restart during the run': 'it does not start a new session when the old one has ended',
    'an elicitation': 'it does not declare the elicitation capability',
    'a resource': 'the model has no tool that lists resources',
  },
}
