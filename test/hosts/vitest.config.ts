import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const lab = mergeConfig(base, defineConfig({ test: { testTimeout: 600_000, hookTimeout: 600_000, retry: 0 } }))
// Merging would add to these: the lab replaces the patterns, and runs two hosts at a time on every machine.
lab.test = {
  ...lab.test,
  root: new URL('../../', import.meta.url).pathname,
  include: ['test/hosts/**/*.test.ts'],
  exclude: [],
  maxWorkers: 2,
}

export default lab
