import { lazyRouteComponent } from '@tanstack/react-router';

/**
 * A page whose code is asked for when somebody goes there. Where it cannot be had, the router loads the whole console
 * anew, as is right after an upgrade, which has other files. While the gateway is away that would leave a blank page
 * of the browser's, and take along a token that was typed: then only this page says so.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      if (await isServed()) throw error;
      throw new Error('The gateway does not answer.', { cause: error });
    }
  }, name);

async function isServed(): Promise<boolean> {
  try {
    const { ok } = await fetch('/console', { cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
