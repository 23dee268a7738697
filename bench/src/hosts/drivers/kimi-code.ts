import { join } from 'node:path'
import type { Driver, Scene } from './driver.ts'
import { mergeJson } from './files.ts'

const fileIn = ({ home }: Scene): string => join(home, '.kimi-code', 'mcp.json')

/** Kimi Code with an OpenAI-compatible endpoint. */
export const kimiCode: Driver = {
  id: 'kimi-code',
  title: 'Kimi Code',
  package: '@moonshot-ai/kimi-code',
  programs: ['@moonshot-ai/kimi-code/dist/main.mjs'],
  node: 22,
  wire: 'chat',
  connect: (scene, way) => mergeJson(fileIn(scene), 'mcpServers', { unfold: 'url' in way ? { url: way.url } : way }),
  prepare: () => Promise.resolve(),
  args: (prompt) => ['-p', prompt],
  env: ({ endpoint }) => ({
    KIMI_MODEL_NAME: 'lab',
    KIMI_MODEL_API_KEY: 'lab',
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_MODEL_BASE_URL: `${endpoint}/v1`,
    KIMI_CODE_NO_AUTO_UPDATE: '1',
    KIMI_DISABLE_TELEMETRY: '1',
  }),
}
