// A table of rows that are loaded; apart from other tables, which the playground has without a server.

import { Show, type Loaded, type Paged } from '../frame/page.tsx'
import { DataTable, type DataTableProps } from './data-table.tsx'

type LoadedTableProps<R> = Omit<DataTableProps<R>, 'rows' | 'onMore'> & {
  readonly of: Loaded<Paged<R> | readonly R[]>
}

export const LoadedTable = <R,>({ of, ...table }: LoadedTableProps<R>) => (
  <Show of={of}>
    {(data) => {
      const { items, onMore } = 'items' in data ? data : { items: data, onMore: undefined }
      return <DataTable {...table} rows={items} onMore={onMore} />
    }}
  </Show>
)
