/// The login, the registered projects, and the selected project.
import { api, asApiError, setLoginHandler, setProject } from '../lib/api';
import { onOtherLogin } from '../lib/login';
import { startLive, stopLive } from '../lib/live.svelte';
import type { ProjectEntry } from '../lib/wire';
import { go, link, route } from './router.svelte';

const KEY = 'nacre.project';

type State = 'starting' | 'ready' | 'login' | 'failed';

export const session = $state<{
  state: State;
  error: unknown;
  projects: ProjectEntry[];
  project: string | null;
}>({ state: 'starting', error: undefined, projects: [], project: null });

setLoginHandler(() => {
  session.state = 'login';
  stopLive();
});

// Opening a login link in another tab also logs in this one.
onOtherLogin(() => {
  if (session.state === 'login') void start();
});

/**
 * `nacre dashboard` opens `/#code=…&project=…`. The one-time code must not stay in the browser's
 * history.
 */
async function logIn(): Promise<void> {
  const [, code, project] = /^#code=([^&]+)(?:&project=(.*))?$/.exec(location.hash) ?? [];
  if (!code) return;
  go(link('overview', '', { project }), true);
  await api.login(decodeURIComponent(code));
}

export async function start(): Promise<void> {
  session.state = 'starting';
  try {
    await logIn();
    await loadProjects();
    session.state = 'ready';
    startLive();
  } catch (error) {
    const isLogin = asApiError(error).isLogin;
    session.error = error;
    session.state = isLogin ? 'login' : 'failed';
  }
}

export async function loadProjects(): Promise<void> {
  session.projects = (await api.projects()).projects;
  const has = (name: string | null | undefined) => session.projects.some((one) => one.name === name);
  const wanted = [route.query.project, session.project, remembered()].find(has);
  const usual = session.projects.find((one) => one.state === 'ready') ?? session.projects[0];
  setCurrent(wanted ?? usual?.name ?? null);
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function setCurrent(name: string | null): void {
  session.project = name;
  setProject(name);
  try {
    if (name !== null) localStorage.setItem(KEY, name);
  } catch {
    // Private windows may block storage.
  }
}

/** Switches to another project, in the same tab but with no item open. */
export function chooseProject(name: string): void {
  setCurrent(name);
  go(link(route.tab));
}
