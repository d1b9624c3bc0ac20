# Installs nacre for one user: downloads the archive for Windows, checks it against SHA256SUMS, and copies the program to
# %LOCALAPPDATA%\nacre\bin. Needs no administrator rights and changes no other file.
#
# usage: irm @DOWNLOADS@/install.ps1 | iex
#
#   NACRE_DOWNLOAD_URL  where SHA256SUMS and the archives are [default: the release of this script]

& {
    $ErrorActionPreference = 'Stop'
    # Windows PowerShell's progress bar makes downloads many times slower.
    $ProgressPreference = 'SilentlyContinue'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor 'Tls12'

    $target = 'x86_64-pc-windows-gnu'
    $from = if ($env:NACRE_DOWNLOAD_URL) { $env:NACRE_DOWNLOAD_URL.TrimEnd('/') } else { '@DOWNLOADS@' }
    $to = Join-Path $env:LOCALAPPDATA 'nacre\bin'
    $url = [Uri]$from
    if ($url.Scheme -ne 'https' -and -not ($url.Scheme -eq 'http' -and $url.IsLoopback)) {
        throw "only https:// is read, not $from"
    }
    $scratch = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $scratch | Out-Null
    try {
        $sums = Join-Path $scratch 'SHA256SUMS'
        Invoke-WebRequest -UseBasicParsing "$from/SHA256SUMS" -OutFile $sums
        $row = Get-Content $sums | Where-Object { $_ -match "^[0-9a-f]{64} [ *]nacre-[0-9A-Za-z.+-]*-$target\.zip$" } | Select-Object -Last 1
        if (-not $row) { throw "SHA256SUMS names no archive for $target" }
        $sum, $name = $row -split ' [ *]', 2
        $archive = Join-Path $scratch $name
        Invoke-WebRequest -UseBasicParsing "$from/$name" -OutFile $archive
        if ((Get-FileHash -Algorithm SHA256 $archive).Hash -ne $sum) {
            throw "$name does not have the checksum of SHA256SUMS; nothing was installed"
        }
        Expand-Archive $archive -DestinationPath $scratch
        $unpacked = Join-Path $scratch ($name -replace '\.zip$', '')
        $version = & (Join-Path $unpacked 'nacre.exe') --version
        if ($LASTEXITCODE -ne 0) { throw 'the program does not run on this machine; nothing was installed' }

        New-Item -ItemType Directory -Force -Path $to | Out-Null
        $program = Join-Path $to 'nacre.exe'
        # A running program can be renamed, but not replaced.
        if (Test-Path $program) { Move-Item -Force $program (Join-Path $to 'nacre.old.exe') }
        Copy-Item (Join-Path $unpacked 'nacre.exe') $program
        Remove-Item -Force -ErrorAction SilentlyContinue (Join-Path $to 'nacre.old.exe')
        Write-Output "Installed $version to $program"
        if (($env:Path -split ';') -contains $to) {
            Write-Output 'Next: nacre init, in a repository'
        } else {
            Write-Output "Next: add $to to PATH, then nacre init in a repository"
        }
    } finally {
        Remove-Item -Recurse -Force $scratch
    }
}
