import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { run } from '../../packages/cli/test/command.ts'
import { defaultDrainMs } from '../../packages/gateway/src/drain.ts'
import { needs } from '../needs.ts'
import { textsOf } from './dockerfile.ts'
import { image } from './image.ts'
import { readManifest, readYaml, typeErrors } from './manifests.ts'

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url))
const deployment = await readManifest('deployment')
const service = await readManifest('service')
const policy = await readManifest('network-policy')
const budget = await readManifest('disruption-budget')
const kustomization = (await readYaml('deploy/kustomization.yaml')) as {
  readonly resources: readonly string[]
  readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly string[] }[]
  readonly images: readonly { readonly name: string }[]
}
const pod = deployment.spec?.template
const gateway = pod?.spec?.containers[0]

/** How long a running installation gets when the gateway stops. */
const installationSeconds = 60

test('the manifests are valid objects of the Kubernetes API', async () => {
  expect(await typeErrors([deployment, service, policy, budget])).toBe('')
})

test('a manifest with a misspelt, missing or wrongly typed field is not valid', async () => {
  const broken = [
    { ...budget, spec: { ...budget.spec, maxUnavailible: 1 } },
    { ...deployment, spec: { selector: deployment.spec?.selector } },
    { ...service, spec: { ports: [{ port: '80' }] } },
  ]
  const errors = await typeErrors(broken)
  expect(errors).toContain('maxUnavailible')
  expect(errors).toContain("'template'")
  expect(errors).toContain("Type 'string' is not assignable to type 'number'")
})

test('the customization lists every manifest, the configuration and the image', async () => {
  const files = (await readdir(`${deploy}/kubernetes`)).map((file) => `kubernetes/${file}`)
  expect(kustomization.resources.toSorted()).toEqual(files.toSorted())
  const [config] = kustomization.configMapGenerator
  expect(config?.files).toEqual(['config/unfold.json'])
  expect(pod?.spec?.volumes).toContainEqual({ name: 'config', configMap: { name: config?.name } })
  expect(kustomization.images.map(({ name }) => name)).toEqual([gateway?.image])
})

test('service, policy and budget select the pods, on the port of the image', () => {
  const labels = pod?.metadata?.labels
  expect(labels).toBeDefined()
  expect(deployment.spec?.selector.matchLabels).toEqual(labels)
  expect(service.spec?.selector).toEqual(labels)
  expect(policy.spec?.podSelector.matchLabels).toEqual(labels)
  expect(budget.spec?.selector?.matchLabels).toEqual(labels)
  const [port] = gateway?.ports ?? []
  expect(`${port?.containerPort}`).toBe(textsOf(image, 'EXPOSE')[0])
  expect(service.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual([port?.name])
  expect(policy.spec?.ingress?.[0]?.ports?.map((each) => each.port)).toEqual([port?.name])
})

test('requests are not bound to a replica', () => {
  expect(service.spec?.sessionAffinity).toBe('None')
})

test('an update and a drained node leave a replica that serves', () => {
  expect(deployment.spec?.replicas).toBeGreaterThanOrEqual(2)
  expect(deployment.spec?.strategy?.rollingUpdate).toMatchObject({ maxUnavailable: 0 })
  expect(budget.spec?.maxUnavailable).toBe(1)
})

test('a pod gets the time to drain before it is killed', async () => {
  const text = await readFile(join(deploy, 'config/unfold.json'), 'utf8')
  const [, announcedMs] = /"drainMs": (\d+)/u.exec(text) ?? []
  const { periodSeconds = 10, failureThreshold = 3 } = gateway?.readinessProbe ?? {}
  expect(Number(announcedMs)).toBeGreaterThan(periodSeconds * failureThreshold * 1_000)
  const needed = (Number(announcedMs) + defaultDrainMs) / 1_000 + installationSeconds
  expect(pod?.spec?.terminationGracePeriodSeconds).toBeGreaterThan(needed)
})

test('a pod has no privileges, and writes only to its own folders', () => {
  expect(pod?.spec).toMatchObject({
    automountServiceAccountToken: false,
    shareProcessNamespace: true,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  })
  expect(gateway?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(gateway?.resources).toMatchObject({ limits: { cpu: expect.anything(), memory: expect.anything() } })
  const emptied = new Set(pod?.spec?.volumes?.filter(({ emptyDir }) => emptyDir !== undefined).map(({ name }) => name))
  const writable = gateway?.volumeMounts?.filter(({ readOnly }) => readOnly !== true) ?? []
  expect(writable.filter(({ name }) => !emptied.has(name))).toEqual([])
  const home = textsOf(image, 'ENV').find((text) => text.startsWith('UNFOLD_HOME='))
  expect(writable.map(({ mountPath }) => `UNFOLD_HOME=${mountPath}`)).toContain(home)
  expect(gateway?.volumeMounts?.find(({ name }) => name === 'config')?.mountPath).toBe(textsOf(image, 'WORKDIR').at(-1))
})

test('values of variables that may be secret are references', () => {
  const literal = gateway?.env?.filter(({ value }) => value !== undefined) ?? []
  expect(literal).toEqual([{ name: 'HOME', value: '/data' }])
  const references = gateway?.env?.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef?.name])
  expect(Object.fromEntries(references ?? [])).toMatchObject({
    UNFOLD_CLUSTER_URL: 'unfold-cluster',
    UNFOLD_CLUSTER_SECRET: 'unfold-cluster',
  })
})

const kubectl = needs('kubectl')

test.skipIf(kubectl.isMissing)(`kubectl renders the customization${kubectl.note}`, async () => {
  // Without the configuration of a cluster, so that nothing is contacted.
  const { code, stdout, stderr } = await run('kubectl', ['kustomize', deploy], {
    env: { ...process.env, KUBECONFIG: '/dev/null' },
  })
  expect(code === 0 ? '' : stderr).toBe('')
  expect(stdout.match(/^kind: \w+$/gmu)?.toSorted()).toEqual(
    ['ConfigMap', 'Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'].map((kind) => `kind: ${kind}`),
  )
  for (const line of (await readFile(`${deploy}/config/unfold.json`, 'utf8')).trim().split('\n')) expect(stdout).toContain(line)
})
