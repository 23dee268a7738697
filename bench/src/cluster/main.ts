// npm run bench -- cluster --plan users=1000[,calls=5]
import { parseArgs } from 'node:util'
import { readMeasured } from './measured.ts'
import { planFor } from './plan.ts'
import { planText } from './plan-report.ts'
import { parseWorkload } from './workload.ts'

const { plan } = parseArgs({ options: { plan: { type: 'string' } } }).values

try {
  if (plan === undefined) throw new Error('Usage: npm run bench -- cluster --plan users=1000')
  const workload = parseWorkload(plan)
  console.log(planText(workload, planFor(workload, readMeasured())))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
