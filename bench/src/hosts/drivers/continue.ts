import { join } from 'node:path'
import type { Driver, Scene } from './driver.ts'
import { putFile } from './files.ts'

const fileIn = ({ home }: Scene): string => join(home, '.continue', 'config.yaml')

// JSON is valid YAML; the sections are separate lines because `connect` appends one.
const section = (name: string, entry: object): string => `${name}:\n  - ${JSON.stringify(entry)}\n`

/** Continue CLI with a model in its configuration file, which needs no account. */
export const continueCli: Driver = {
  id: 'continue',
  title: 'Continue',
  package: '@continuedev/cli',
  command: 'cn',
  programs: ['@continuedev/cli/dist/cn.js'],
  wire: 'chat',
  connect: 'continue',
  prepare: (scene) =>
    putFile(
      fileIn(scene),
      `name: lab\nversion: 1.0.0\nschema: v1\n${section('models', {
        name: 'lab',
        provider: 'openai',
        model: 'lab',
        apiKey: 'lab',
        apiBase: `${scene.endpoint}/v1`,
        roles: ['chat'],
        capabilities: ['tool_use'],
      })}`,
    ),
  args: (prompt) => ['-p', prompt, '--auto'],
  env: () => ({ CONTINUE_METRICS_ENABLED: '0' }),
  cannot: {
    'a prompt': 'it does not offer the prompts of servers without a terminal',
    'an image': 'it passes the base64 of an image as text',
    'a gateway restart during the run': 'it does not start a new session when the old one has ended',
    'an elicitation': 'it does not declare the elicitation capability',
    'a resource': 'the model has no tool that lists resources',
  },
}
