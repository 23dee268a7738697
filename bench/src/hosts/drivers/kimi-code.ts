import type { Driver } from './driver.ts'

/** Kimi Code with an OpenAI-compatible endpoint. */
export const kimiCode: Driver = {
  id: 'kimi-code',
  title: 'Kimi Code',
  package: '@moonshot-ai/kimi-code',
  command: 'kimi',
  programs: ['@moonshot-ai/kimi-code/dist/main.mjs'],
  node: 22,
  wire: 'chat',
  connect: 'kimi',
  prepare: () => Promise.resolve(),
  args: (prompt) => ['-p', prompt],
  env: ({ endpoint }) => ({
    KIMI_MODEL_NAME: 'lab',
    KIMI_MODEL_API_KEY: 'lab',
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_MODEL_BASE_URL: `${endpoint}/v1`,
    KIMI_CODE_NO_AUTO_UPDATE: '1',
    KIMI_DISABLE_TELEMETRY: '1',
    KIMI_MCP_STARTUP_TIMEOUT_MS: '120000',
  }),
  showsMeta: true,
  cannot: {
    'a prompt': 'it does not offer the prompts of servers without a terminal',
    'an elicitation': 'it does not declare the elicitation capability',
    'a resource': 'the model has no tool that lists resources',
  },
}
