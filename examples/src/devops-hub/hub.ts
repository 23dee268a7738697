/**
 * Shows nested groups and groups that exclude each other: aws, gcp and k8s are children of `infra`, and only one of aws and gcp can
 * be active. The infrastructure is simulated in memory (fleet.ts): machines take time to start, deployments replace one pod after
 * another, and one release is broken, so that there is something to watch and roll back.
 *
 *   npm run -s example -- devops-hub                  over standard input and output
 *   npm run -s example -- devops-hub --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox } from '@unfold-mcp/server'
import { addCloudTools } from './clouds.ts'
import { addDeployTools } from './deploy.ts'
import type { Fleet } from './fleet.ts'
import { addKubernetesTools } from './kubernetes.ts'
import { addMonitorTools } from './monitor.ts'

export function devopsHub(fleet: Fleet) {
  const hub = defineToolbox({
    name: 'devops-hub',
    version: '1.0.0',
    description: 'Infrastructure, deployments and monitoring of a simulated shop. Open the part you need.',
    groups: {
      infra: { description: 'Infrastructure management' },
      deploy: { description: 'Deployment operations' },
      monitor: { description: 'Monitoring and observability' },
      aws: { description: 'AWS-specific operations', parent: 'infra', excludes: ['gcp'] },
      gcp: { description: 'GCP-specific operations', parent: 'infra' },
      k8s: { description: 'Kubernetes operations', parent: 'infra' },
    },
    hiddenCalls: 'hint',
  })
  addCloudTools(hub, fleet)
  addKubernetesTools(hub, fleet)
  addDeployTools(hub, fleet)
  addMonitorTools(hub, fleet)
  return hub
}
