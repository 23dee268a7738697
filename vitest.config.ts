import { availableParallelism } from 'node:os'
import { defaultServerConditions } from 'vite'
import { defaultExclude, defineConfig } from 'vitest/config'

const conditions = ['@unfold-mcp/source', ...defaultServerConditions]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Node 20 cannot run decorators or `using`; a lower target makes esbuild rewrite them.
  esbuild: { target: 'es2022' },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts', 'examples/test/**/*.test.ts'],
    // Real hosts, which are installed on demand: npm run test:hosts.
    exclude: [...defaultExclude, 'test/hosts/**'],
    pool: 'forks',
    testTimeout: 20_000,
    // Much of the time goes by in waiting for other processes, so one more than the usual does no harm where there are two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Real processes, sockets and browsers on machines of every speed; the report names each test that needed it.
    retry: 1,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/*.examples.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { 'packages/core/src/**': { lines: 90 }, 'packages/gateway/src/**': { lines: 80 } },
    },
  },
})
