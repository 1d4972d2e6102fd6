import { Empty } from '../ui/ui.tsx'

export function SignIn() {
  return <Empty title="Sign in" />
}
