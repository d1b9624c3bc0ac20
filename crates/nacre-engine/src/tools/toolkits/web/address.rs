//! Allows connections only to public addresses.
//!
//! A host name is resolved once, all of its addresses must be public, and only these addresses are
//! used for the connection. Checking the resolved addresses covers alternative spellings of an
//! address and prevents DNS rebinding.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Clone, Debug, Default)]
pub struct AddressGuard {
    /// Non-public addresses that are nevertheless allowed; used in tests.
    pub exceptions: Vec<SocketAddr>,
}

impl AddressGuard {
    pub(super) fn allows(&self, address: SocketAddr) -> bool {
        is_public(address.ip()) || self.exceptions.contains(&address)
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Reserved IPv4 networks, as address and prefix length.
const OTHER_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local addresses, including cloud metadata services.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved and broadcast addresses.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in = |(network, length): &(Ipv4Addr, u32)| {
        (address.to_bits() ^ network.to_bits()) >> (32 - length) == 0
    };
    !OTHER_V4.iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    let last = Ipv4Addr::from_bits((address.to_bits() & 0xFFFF_FFFF) as u32);
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    // NAT64 embeds an IPv4 address.
    if address.segments()[..6] == [0x64, 0xFF9B, 0, 0, 0, 0] {
        return is_public_v4(last);
    }
    let is_global = first & 0xE000 == 0x2000;
    // Protocol assignments (including Teredo), documentation addresses, and 6to4, which embeds any
    // IPv4 address.
    let is_special = first == 0x2001 && (second < 0x200 || second == 0xDB8)
        || first == 0x2002
        || first == 0x3FFF && second < 0x1000;
    // An ISATAP interface ID may embed a private IPv4 address.
    let is_isatap = address.segments()[5] == 0x5EFE && third != 0;
    is_global && !is_special && !is_isatap
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_public_addresses_are_reached() {
        for (text, expected) in [
            ("93.184.216.34", true),
            ("8.8.8.8", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("100.63.255.255", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.170", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.19.255.255", false),
            ("203.0.113.9", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700:4700::1111", true),
            ("2a00:1450:4001:81b::200e", true),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b::10.0.0.1", false),
            ("64:ff9b::169.254.169.254", false),
            ("64:ff9b:1::8.8.8.8", false),
            ("fc00::1", false),
            ("fd12:3456:789a::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::1", false),
            ("3fff::1", false),
            ("5f00::1", false),
        ] {
            assert_eq!(is_public(text.parse().expect(text)), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn wrapping_an_address_never_makes_it_public(bits in any::<u32>()) {
            let plain = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(is_public_v6(plain.to_ipv6_mapped()), is_public_v4(plain));
            let nat64 = Ipv6Addr::from_bits((0x0064_FF9B_u128 << 96) | u128::from(bits));
            prop_assert_eq!(is_public_v6(nat64), is_public_v4(plain));
            prop_assert!(!is_public_v6(plain.to_ipv6_compatible()));
            let is_known_private = plain.is_private() || plain.is_loopback() || plain.is_link_local()
                || plain.is_multicast() || plain.is_broadcast() || plain.is_documentation()
                || plain.is_unspecified();
            prop_assert!(!(is_known_private && is_public_v4(plain)));
        }
    }
}
