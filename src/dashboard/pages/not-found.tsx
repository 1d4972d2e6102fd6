import { href } from '../router.ts'
import { Empty } from '../ui/ui.tsx'

export function NotFound() {
  return (
    <Empty title="There is no such page" action={<a href={href('/')}>To the chart</a>}>
      The address may be mistyped, or what it named was deleted.
    </Empty>
  )
}
