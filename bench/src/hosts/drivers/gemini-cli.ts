import { join } from 'node:path'
import type { Driver } from './driver.ts'
import { putFile } from './files.ts'

/** Gemini CLI with an API key. */
export const geminiCli: Driver = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  command: 'gemini',
  programs: ['@google/gemini-cli/bundle/gemini.js'],
  wire: 'gemini',
  connect: 'gemini',
  prepare: ({ home }) =>
    putFile(join(home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }),
  args: (prompt) => ['-p', prompt, '--yolo'],
  usePrompt: (name, value) => ['-p', `/${name} --path="${value}"`, '--yolo'],
  env: ({ endpoint }) => ({ GEMINI_API_KEY: 'lab', GOOGLE_GEMINI_BASE_URL: endpoint }),
  cannot: {
    'an elicitation': 'it does not declare the elicitation capability',
    'a gateway restart during the run': 'it does not start a new session after a 404',
  },
}
