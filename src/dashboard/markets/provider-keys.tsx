// The providers of bars that need a key: which have one, and the dialog that gives it. A key is never shown again.

import type { Provider } from '../../wire/provider.ts'
import { call } from '../api-client.ts'
import { attempt, pageStyles as p, useAnswer } from '../frame/page.tsx'
import { actions, DataTable, own, type Column } from '../ui/data-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Badge, Field, toast } from '../ui/ui.tsx'
import { bodyFields, rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { user } from '../session.ts'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const KEY_BODY = bodyFields('PUT /api/platform/providers/{name}/key')
const PROVIDER_FIELDS = rowFields('GET /api/platform/providers', 'providers')

export function ProviderKeys() {
  const providers = useAnswer('GET /api/platform/providers', {})
  const give = (provider: Provider) => openDialog(<GiveKey provider={provider} />, providers.reload)
  const remove = ({ name }: Provider) =>
    attempt(call('DELETE /api/platform/providers/{name}/key', { path: { name } }), () => {
      toast(`The key of ${name} is removed.`)
      providers.reload()
    })
  const keyed = providers.data?.providers.filter(({ needsKey }) => needsKey) ?? []
  if (keyed.length === 0) return null
  return (
    <Section title="Providers with a key">
      <p>
        These have stocks of the United States and ask for a key of yours. It is sealed, sent to the provider
        alone, and never shown again. Exchanges that several have are asked of the one whose key was given
        last.
      </p>
      <DataTable
        label="Providers with a key"
        rows={keyed}
        wire={PROVIDER_FIELDS}
        columns={columnsOf(user.value?.role !== 'member', give, remove)}
      />
    </Section>
  )
}

const columnsOf = (
  mayGive: boolean,
  onGive: (one: Provider) => void,
  onRemove: (one: Provider) => void,
): readonly Column<Provider>[] => [
  own('name', 'Provider', 'main', ({ name, limits, asked }) => (
    <>
      <span>{name}</span>
      <span class={p['cellNote']}>
        {asked.length > 0 ? `Asked for ${asked.join(', ')}` : `A free key has ${limits ?? 'limits'}`}
      </span>
    </>
  )),
  own('keySetAt', 'Key', '', ({ keySetAt, keyLost }) =>
    keySetAt === null ? (
      <Badge>none</Badge>
    ) : keyLost ? (
      <Badge tone="down">give it again</Badge>
    ) : (
      <Badge tone="up">given</Badge>
    ),
  ),
  actions('More', (one) =>
    buttons(
      [
        mayGive && item(one.keySetAt === null ? 'Give a key' : 'Replace', '', () => onGive(one)),
        mayGive && one.keySetAt !== null && item('Remove', '', () => onRemove(one)),
      ],
      'small quiet',
    ),
  ),
]

function GiveKey({ provider: { name, needsSecret, exchanges, limits } }: { readonly provider: Provider }) {
  const form = useForm({
    wire: KEY_BODY,
    start: { key: '', secret: '' },
    async send({ key, secret }) {
      const body = { key: key.trim(), ...(needsSecret && { secret: secret.trim() }) }
      await call('PUT /api/platform/providers/{name}/key', { path: { name }, body })
      toast(`${name} is asked from now on.`, { tone: 'up' })
    },
  })
  return (
    <FormDialog of={form} title={`Key of ${name}`} action="Save">
      <p class="muted">
        For {exchanges.join(', ')}. {limits} are kept to, as a free key has them.
      </p>
      <Field label="Key" type="password" autocomplete="off" {...form.field('key')} />
      {needsSecret && (
        <Field
          label="Secret"
          type="password"
          autocomplete="off"
          {...form.field('secret', { required: true })}
        />
      )}
    </FormDialog>
  )
}
