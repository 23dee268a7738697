import { availableParallelism } from 'node:os'
import { defaultServerConditions } from 'vite'
import { defaultExclude, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

const conditions = ['@unfold-mcp/source', ...defaultServerConditions]

// CONTRIBUTING.md, section "Tests", explains which project a file belongs to.
const browser = ['packages/browser/test/**/*.test.ts', '**/*.browser.test.ts']
const conformance = ['test/conformance/**/*.test.ts']
const hosts = ['test/hosts/**/*.test.ts']
const unit = ['packages/*/src/**/*.test.ts', 'test/unit-setup.test.ts']
const cores = availableParallelism()

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  // Node 20 cannot run decorators or `using`; a lower target makes esbuild rewrite them.
  esbuild: { target: 'es2022' },
  test: {
    pool: 'forks',
    // Generous, because tests must pass on a busy machine: a deadline only ends a test that hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Most tests wait for other processes: with two or three workers per core, no core is idle.
    maxWorkers: 2 * cores,
    sequence: { sequencer: LongestFirst },
    // All files of a worker share one module graph: importing it takes about 0.7 s of CPU time.
    isolate: false,
    // Transformed once for all projects and runs: that is a fifth of the CPU time of short tests.
    experimental: { fsModuleCache: true },
    // In groups, one after the other: Vitest starts a new worker, which imports everything again, whenever the project changes. The last
    // group has many short files, so that no worker is idle at the end.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: unit,
          exclude: [...defaultExclude, '**/*.{e2e,browser}.test.ts'],
          setupFiles: ['test/unit-setup.ts'],
          // Unit tests wait for nothing.
          maxWorkers: Math.max(2, cores),
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: [
            'packages/*/src/**/*.e2e.test.ts',
            'packages/*/test/**/*.test.ts',
            'test/**/*.test.ts',
            'examples/test/**/*.test.ts',
          ],
          exclude: [...defaultExclude, ...browser, ...conformance, ...hosts, 'test/unit-setup.test.ts'],
          globalSetup: ['test/bundled-servers.ts'],
          // These tests wait most: two workers per core leave a quarter of the CPU time unused.
          maxWorkers: 3 * cores,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        // A browser is several processes.
        test: { name: 'browser', include: browser, maxWorkers: 2 * cores, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'conformance', include: conformance, maxWorkers: 2 * cores, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'hosts',
          include: hosts,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Each host is a program of several hundred megabytes.
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/*.examples.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { 'packages/core/src/**': { lines: 90 }, 'packages/gateway/src/**': { lines: 80 } },
    },
  },
})
