// The files that start several servers: they parse, and every setting and address in them exists.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { configRows, readConfig } from '../../src/server/config.ts'

const FOLDER = `${import.meta.dir}/../../data/deploy`
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8')

/** Of a file of YAML, as loosely typed as what people write. */
// oxlint-disable-next-line typescript/no-explicit-any
const documents = (file: string): any[] => [Bun.YAML.parse(read(file))].flat()

const settings = new Set(configRows().map(({ name }) => name))

/** The settings that a file gives are taken as they are. */
function expectTaken(given: Readonly<Record<string, string>>): void {
  expect(Object.keys(given).filter((name) => !settings.has(name))).toEqual([])
  expect(readConfig({}, given).mistakes).toEqual([])
}

test('the compose file starts three servers that share a database and a key', () => {
  const [{ services, secrets, configs, volumes }] = documents('compose.yaml')
  const { chartroom, proxy, postgres } = services
  expect(chartroom.deploy.replicas).toBe(3)
  expectTaken({
    ...chartroom.environment,
    STORE: chartroom.environment.STORE.replace('${POSTGRES_PASSWORD:?}', 'secret'),
  })
  const [{ source, target }] = chartroom.secrets
  expect(chartroom.environment.KEY_FILE).toBe(`/run/secrets/${target}`)
  expect(secrets[source].file).toBe('./instance.key')
  expect(Object.keys(configs)).toEqual(proxy.configs.map((one: { source: string }) => one.source))
  expect(configs.proxy.content).toContain('health_uri /api/health')
  // Caddy asks only upstreams that are named.
  expect(configs.proxy.content.match(/chartroom-chartroom-\d:3000/g)).toHaveLength(chartroom.deploy.replicas)
  expect(postgres.volumes[0]).toStartWith(`${Object.keys(volumes)[0]}:`)
})

test('the manifest has a set of servers, probes, a service and a budget that fit together', () => {
  const all = documents('kubernetes.yaml')
  expect(all.map(({ kind }) => kind)).toEqual(['StatefulSet', 'Service', 'Service', 'PodDisruptionBudget'])
  const [{ spec: set }, , { metadata: pods }, { spec: budget }] = all
  const [container] = set.template.spec.containers
  const env = Object.fromEntries(
    container.env.map(({ name, value = 'postgres://db/x' }: { name: string; value?: string }) => [
      name,
      value,
    ]),
  )
  expectTaken(env)
  expect(env.KEY_FILE).toBe(`${container.volumeMounts[0].mountPath}/instance.key`)
  expect(container.livenessProbe.httpGet.path).toBe('/api/health')
  expect(container.startupProbe.httpGet.path).toBe('/api/ready')
  expect(container.readinessProbe.httpGet.path).toBe('/api/health')
  expect(set.serviceName).toBe(pods.name)
  expect(budget).toEqual({ maxUnavailable: 1, selector: set.selector })
  for (const mount of container.volumeMounts)
    expect(set.template.spec.volumes.map(({ name }: { name: string }) => name)).toContain(mount.name)
})
