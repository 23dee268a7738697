// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested

import { describe, expect, test } from 'vitest'
import { ConfigError, problemLine } from './problem.ts'
import { parseConfig } from './read.ts'
import { restartRequired } from './restart.ts'
import type { Config } from './schema.ts'

const secret = 'k'.repeat(32)
const url = 'redis://127.0.0.1:6379'

const read = (config: object, environment = {}): Config =>
  parseConfig(JSON.stringify(config), { file: 'unfold.json', environment }).config

function mistakes(config: object, environment = {}): readonly string[] {
  try {
    read(config, environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(problemLine)
    throw error
  }
}

describe('cluster', () => {
  test('is absent by default', () => {
    expect(read({}).cluster).toBeUndefined()
  })

  test('comes from the file, with variables', () => {
    const cluster = { url: 'redis://:${PASSWORD}@cache', secret: '${SECRET}', advertise: 'http://${IP}:7420' }
    expect(read({ cluster }, { PASSWORD: 'pw', SECRET: secret, IP: '10.0.0.7' }).cluster).toEqual({
      url: 'redis://:pw@cache',
      secret,
      advertise: 'http://10.0.0.7:7420',
      prefix: 'unfold:',
      leaseMs: 10_000,
      drainMs: 5_000,
    })
  })

  test('comes from the environment where the file sets nothing', () => {
    const environment = { UNFOLD_CLUSTER_URL: url, UNFOLD_CLUSTER_SECRET: secret, UNFOLD_CLUSTER_PREFIX: 'a:' }
    expect(read({}, environment).cluster).toEqual({ url, secret, prefix: 'a:', leaseMs: 10_000, drainMs: 5_000 })
    expect(read({ cluster: { url: 'redis://other', prefix: 'b:', leaseMs: 2_000 } }, environment).cluster).toEqual({
      url: 'redis://other',
      secret,
      prefix: 'b:',
      leaseMs: 2_000,
      drainMs: 5_000,
    })
  })

  test('an edit of the file does not need the variables that the gateway has', () => {
    const config = {
      mcpServers: { memory: { command: 'memory', placement: 'one' } },
      cluster: { secret: '${SECRET}', advertise: 'http://${IP}:7420' },
    }
    expect(mistakes(config)).not.toEqual([])
    const edited = parseConfig(JSON.stringify(config), { file: 'unfold.json', environment: {}, isEdit: true })
    expect(Object.keys(edited.config.mcpServers)).toEqual(['memory'])
    const misspelt = JSON.stringify({ ...config, cluster: { secrt: 'x' } })
    expect(() => parseConfig(misspelt, { file: 'unfold.json', environment: {}, isEdit: true })).toThrow(ConfigError)
  })

  test('needs a secret of 32 characters and a valid URL', () => {
    expect(mistakes({ cluster: { url } })).toEqual([expect.stringMatching(/cluster needs a secret.*UNFOLD_CLUSTER_SECRET/u)])
    expect(mistakes({}, { UNFOLD_CLUSTER_URL: url })).toEqual([expect.stringMatching(/cluster needs a secret/u)])
    expect(mistakes({ cluster: { secret: 'short' } })).toEqual([
      expect.stringMatching(/cluster\.secret is shorter than 32 characters/u),
    ])
    expect(mistakes({ cluster: { secret, url: 'http://cache' } })).toEqual([
      expect.stringMatching(/cluster\.url must be redis:\/\//u),
    ])
    expect(mistakes({ cluster: { secret, prefix: 'a b' } })).toEqual([expect.stringMatching(/cluster\.prefix must be/u)])
    expect(mistakes({ cluster: { secret, advertise: 'host:1' } })).toEqual([
      expect.stringMatching(/cluster\.advertise must be an http/u),
    ])
  })

  test('a secret that is not resolved here is not an error', () => {
    expect(mistakes({ cluster: { url, secret: '${keyring:cluster}' } })).toEqual([])
  })

  test('a server that runs once needs Redis if there are several replicas', () => {
    const mcpServers = { memory: { command: 'memory', placement: 'one' } }
    expect(mistakes({ mcpServers })).toEqual([])
    expect(mistakes({ mcpServers, cluster: { url, secret } })).toEqual([])
    expect(mistakes({ mcpServers, cluster: { secret } })).toEqual([
      expect.stringMatching(/mcpServers\.memory\.placement "one" needs cluster\.url/u),
    ])
    expect(mistakes({ mcpServers: { far: { url: 'http://far', placement: 'one' } } })).toHaveLength(1)
    const idle = { memory: { command: 'memory', placement: 'one', idleStopMs: 1_000 } }
    expect(mistakes({ mcpServers: idle, cluster: { url, secret } })).toEqual([
      expect.stringMatching(/mcpServers\.memory\.idleStopMs cannot be combined with "placement": "one"/u),
    ])
  })

  test('a change takes effect after a restart', () => {
    expect(restartRequired(read({}), read({ cluster: { secret } }))).toEqual(['cluster'])
    expect(restartRequired(read({ cluster: { secret } }), read({ cluster: { secret } }))).toEqual([])
  })
})
