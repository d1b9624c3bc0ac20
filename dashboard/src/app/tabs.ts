/// The tabs in navigation order. Each is loaded when it is first opened.
import type { Component } from 'svelte';
import type { IconName } from '../parts/icons';

export interface Tab {
  id: string;
  title: string;
  icon: IconName;
  /** The key after `g`. */
  key: string;
  /** The equivalent terminal command. */
  command: string;
  load: () => Promise<{ default: Component }>;
}

export const TABS: Tab[] = [
  {
    id: 'overview',
    title: 'Overview',
    icon: 'overview',
    key: 'o',
    command: 'nacre status',
    load: () => import('../tabs/Overview.svelte'),
  },
  {
    id: 'ask',
    title: 'Ask',
    icon: 'ask',
    key: 'a',
    command: 'nacre ask',
    load: () => import('../tabs/Ask.svelte'),
  },
  {
    id: 'memories',
    title: 'Memories',
    icon: 'memories',
    key: 'm',
    command: 'nacre memory list',
    load: () => import('../tabs/Memories.svelte'),
  },
  {
    id: 'review',
    title: 'Review',
    icon: 'review',
    key: 'r',
    command: 'nacre review',
    load: () => import('../tabs/Review.svelte'),
  },
  {
    id: 'graph',
    title: 'Graph',
    icon: 'graph',
    key: 'g',
    command: 'nacre memory related',
    load: () => import('../tabs/Graph.svelte'),
  },
  {
    id: 'sessions',
    title: 'Sessions',
    icon: 'sessions',
    key: 's',
    command: 'nacre trace',
    load: () => import('../tabs/Sessions.svelte'),
  },
  {
    id: 'pipeline',
    title: 'Pipeline',
    icon: 'pipeline',
    key: 'p',
    command: 'nacre queue',
    load: () => import('../tabs/Pipeline.svelte'),
  },
  {
    id: 'map',
    title: 'Map',
    icon: 'map',
    key: 'c',
    command: 'nacre explore',
    load: () => import('../tabs/Map.svelte'),
  },
  {
    id: 'settings',
    title: 'Settings',
    icon: 'settings',
    key: ',',
    command: 'nacre config',
    load: () => import('../tabs/Settings.svelte'),
  },
];
