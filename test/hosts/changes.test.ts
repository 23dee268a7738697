import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { plainAgent } from '../../bench/src/hosts/agents/plain.ts'
import { tryWish, wishes } from '../../bench/src/hosts/lab.ts'
import { scenario } from './scenario.ts'

const modelMs = 2_000

scenario('a tool added while the host runs', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.late, {}, ({ offices }) => async (request, turn) => {
    if (turn === 0) {
      await offices.addTool('files')
      // A model takes seconds to reply. A host that re-lists does so in the meantime.
      await pause(modelMs)
    }
    return plainAgent(wishes.late)(request, turn)
  })
  expect(outcome).toMatchObject({ reached: true, informed: true })
})

scenario('a gateway restart during the run', async (driver) => {
  const { outcome } = await tryWish(driver, wishes.read, { exposure: 'everything' }, ({ gateway }) => async (request, turn) => {
    if (turn === 0) {
      await gateway.stop()
      await gateway.serve()
    }
    return plainAgent(wishes.read)(request, turn)
  })
  expect(outcome).toMatchObject({ reached: true, informed: true })
})
