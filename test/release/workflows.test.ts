import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from './clone.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}

interface Job {
  readonly uses?: string
  readonly needs?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'timeout-minutes'?: number
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } }
  readonly steps?: readonly Step[]
}

interface Workflow {
  readonly on: object
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = join(root, '.github/workflows')
const read = async (name: string) => parse(await readFile(join(folder, name), 'utf8')) as Workflow
const { scripts, engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
}
const publishes = ({ run = '' }: Step): boolean => run.includes('release:publish')

describe.each((await readdir(folder)).toSorted())('the workflow %s', async (name) => {
  const workflow = await read(name)
  const jobs = Object.values(workflow.jobs)
  const steps = jobs.flatMap((job) => job.steps ?? [])

  test('runs npm scripts that exist', () => {
    const called = steps.flatMap(({ run = '' }) => {
      const named = [...run.matchAll(/\bnpm run (?:-s )?([\w:-]+)/gu)].map(([, script = '']) => script)
      return /\bnpm test\b/u.test(run) ? [...named, 'test'] : named
    })
    expect(called.filter((script) => scripts[script] === undefined)).toEqual([])
    const files = called.map((script) => /^node (\S+)/u.exec(scripts[script] ?? '')?.[1] ?? script)
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  test('uses only actions of GitHub, with a major version, and workflows that exist', () => {
    const actions = steps.flatMap(({ uses }) => uses ?? [])
    expect(actions.filter((action) => !/^actions\/[\w-]+@v\d+$/u.test(action))).toEqual([])
    const workflows = jobs.flatMap(({ uses }) => uses ?? [])
    expect(workflows.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  test('has read-only permissions by default, no persisted credentials and a timeout', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts.every((step) => step.with?.['persist-credentials'] === false)).toBe(true)
    expect(jobs.filter((job) => job.steps !== undefined && job['timeout-minutes'] === undefined)).toEqual([])
  })
})

test('CI runs the tests on the oldest supported Node and on the later release lines', async () => {
  const { jobs, on } = await read('ci.yml')
  expect(on).toHaveProperty('pull_request')
  expect(on).toHaveProperty('workflow_call')
  expect(jobs.test?.strategy?.matrix.node).toEqual([engines.node.replace('>=', ''), '22', '24'])
  expect(jobs.test?.steps?.at(-1)?.run).toBe('npm test')
})

test('a tag is published after the tests, with provenance, by the only job that may request an identity', async () => {
  const { jobs, on } = await read('release.yml')
  expect(on).toEqual({ push: { tags: ['v*'] } })
  const privileged = Object.entries(jobs).filter(([, job]) => job.permissions?.['id-token'] === 'write')
  const publishing = Object.entries(jobs).filter(([, job]) => job.steps?.some(publishes))
  expect(privileged.map(([name]) => name)).toEqual(publishing.map(([name]) => name))
  const [[, job] = []] = publishing
  expect(jobs[job?.needs ?? '']?.uses).toBe('./.github/workflows/ci.yml')
  expect(job?.permissions).toEqual({ contents: 'read', 'id-token': 'write' })
  expect(job?.steps?.find(publishes)?.env).toMatchObject({ NPM_CONFIG_PROVENANCE: 'true' })
})
