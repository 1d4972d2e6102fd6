// Signing in without a password in a real browser: a passkey of Chromium's virtual authenticator, and a real provider of
// OpenID Connect on this machine.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { CLIENT_SECRET, testProvider, type TestProvider } from '../http/identity-provider.ts'
import { noBrowser, OWNER, startSite, type Site } from './browser.ts'

const ADA = { sub: 'ada', email: 'ada@work.example', email_verified: false, name: 'Ada' }

describe.skipIf(noBrowser)('ways to sign in', () => {
  let provider: TestProvider
  let site: Site
  let at: string
  beforeAll(async () => {
    provider = await testProvider()
    site = await startSite({
      env: {
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: 'chartroom',
        OIDC_CLIENT_SECRET: CLIENT_SECRET,
        OIDC_NAME: 'Home',
      },
    })
    // A passkey belongs to a name: not to 127.0.0.1.
    at = site.url.replace('127.0.0.1', 'localhost')
    provider.moveClient(`${at}/sign-in`)
    provider.person = ADA
  }, 300_000)
  afterAll(async () => {
    await site.close()
    await provider.stop()
  })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const inside = (page: Page) => page.getByRole('navigation', { name: 'Main' })

  async function signInByPassword(page: Page): Promise<void> {
    await page.goto(`${at}/sign-in`)
    await page.getByLabel('E-mail').fill(OWNER.email)
    await page.getByLabel('Password').fill(OWNER.password)
    await button(page, 'Sign in').click()
    await inside(page).waitFor()
  }

  async function signOut(page: Page): Promise<void> {
    await page.goto(`${at}/settings/profile`)
    await button(page, 'Sign out').click()
  }

  test('a passkey is added, signs in, gets another name, and is removed', async () => {
    const { page, complaints } = await site.open({ fresh: true, remembered: { 'tour.done': true } })
    const tools = await page.context().newCDPSession(page)
    await tools.send('WebAuthn.enable')
    await tools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await signInByPassword(page)
    await page.goto(`${at}/settings/sign-in`)
    await button(page, 'Add a passkey').click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('指紋 🔑')
    await page.getByLabel('Your password').fill(OWNER.password)
    await button(page, 'Go on').click()
    await page.getByRole('row', { name: /指紋 🔑/ }).waitFor()

    await signOut(page)
    await button(page, 'Use a passkey').click()
    await inside(page).waitFor()
    await page.goto(`${at}/settings/sign-in`)
    await button(page, 'Rename 指紋 🔑').click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Laptop')
    await button(page, 'Rename').click()
    await button(page, 'Remove Laptop').click()
    await button(page, 'Remove passkey').click()
    await page.getByText('No passkeys yet').waitFor()
    // What a page has asked for as its user signs out is refused.
    expect(complaints.filter((one) => !one.includes('status of 401'))).toEqual([])
  }, 300_000)

  test('the provider is linked, signs in, and is told when somebody signs out or said no', async () => {
    const { page } = await site.open({ fresh: true, remembered: { 'tour.done': true } })
    await signInByPassword(page)
    await page.goto(`${at}/settings/sign-in`)
    await button(page, 'Link Home').click()
    await page.getByLabel('Your password').fill(OWNER.password)
    await button(page, 'Go to Home').click()
    await page.getByRole('row', { name: /ada@work\.example/ }).waitFor()
    expect(page.url()).toBe(`${at}/settings/sign-in`)

    await signOut(page)
    await button(page, 'Continue with Home').click()
    await inside(page).waitFor()
    await page.waitForURL(`${at}/settings/profile`)
    await signOut(page)
    await page.waitForURL((url) => url.href.startsWith(`${provider.issuer}/session/end`))

    await page.context().clearCookies()
    provider.person = null
    await page.goto(`${at}/sign-in`)
    await button(page, 'Continue with Home').click()
    await page.getByRole('alert').getByText('you said no there').waitFor()
    expect(page.url()).toBe(`${at}/sign-in`)
    await page.getByLabel('E-mail').fill(OWNER.email)
    await page.getByLabel('Password').fill(OWNER.password)
    await button(page, 'Sign in').click()
    await inside(page).waitFor()
  }, 300_000)
})
